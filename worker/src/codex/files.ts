// A codex client's calls about files (E6), as orders to the file helper: allowed by the command policy, and put on record.

import { Buffer } from "node:buffer";
import { CodexError, ERROR, uriOf } from "sandbox-stdio/codex";
import type { FileOrder, FileSuccess } from "sandbox-stdio/core";
import * as z from "zod";
import type { CodexSpec } from "../attach/codex-spec.ts";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import { base64Of } from "../base/base64url.ts";
import { askFiles } from "../bridge/files.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import { offset, parsed, path } from "./calls.ts";

/** Bytes of a file that is read or written whole. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024;
const MAX_BLOCK_BYTES = 1024 * 1024;
const MAX_WALKED = 10_000;
const WRITING: readonly FileOrder["op"][] = ["write", "mkdir", "remove", "copy"];

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value !== false);
const bytes = (most: number) =>
  z
    .base64()
    .transform((text): Uint8Array => Buffer.from(text, "base64"))
    .refine(({ length }) => length <= most, `must have at most ${most} bytes`);

type FileCall = {
  readonly order: FileOrder;
  /** What is to be written. */
  readonly bytes: Uint8Array | undefined;
  /** @param data The bytes that came with the answer, in base64. */
  result(answer: FileSuccess, data: string): object;
};

type Reader = (params: unknown, owner: string) => FileCall;

function call<S extends z.ZodRawShape>(
  shape: S,
  order: (asked: z.output<z.ZodObject<S>>, owner: string) => FileOrder,
  result: (answer: FileSuccess, data: string, asked: z.output<z.ZodObject<S>>) => object = () => ({}),
): Reader {
  const schema = z.object(shape);
  return (params, owner) => {
    const asked = parsed(schema, params);
    const { dataBase64 } = asked as { dataBase64?: Uint8Array };
    return { order: order(asked, owner), bytes: dataBase64, result: (answer, data) => result(answer, data, asked) };
  };
}

const handle = { handleId: z.string().max(256) };
const most = (limit: number) => offset.nullish().transform((value) => Math.min(value ?? limit, limit));

const FILE_CALLS: Readonly<Record<string, Reader>> = {
  "fs/getMetadata": call(
    { path },
    ({ path }) => ({ op: "stat", path }),
    ({ facts }) => ({
      isDirectory: facts?.kind === "directory",
      isFile: facts?.kind === "file",
      isSymlink: facts?.isLink === true,
      size: facts?.size ?? 0,
      createdAtMs: facts?.createdAtMs ?? 0,
      modifiedAtMs: facts?.modifiedAtMs ?? 0,
    }),
  ),
  "fs/readFile": call(
    { path },
    ({ path }) => ({ op: "read", path, maxBytes: MAX_WHOLE_BYTES }),
    (_, dataBase64) => ({ dataBase64 }),
  ),
  "fs/writeFile": call({ path, dataBase64: bytes(MAX_WHOLE_BYTES) }, ({ path }) => ({ op: "write", path })),
  "fs/createDirectory": call({ path, recursive: flag }, (asked) => ({ op: "mkdir", ...asked })),
  "fs/readDirectory": call(
    { path },
    ({ path }) => ({ op: "list", path }),
    ({ entries = [] }) => ({
      entries: entries.map(({ name: fileName, kind }) => ({
        ...{ fileName, isDirectory: kind === "directory", isFile: kind === "file" },
      })),
    }),
  ),
  "fs/walk": call(
    {
      path,
      options: z.object({
        ...{ maxEntries: most(MAX_WALKED), maxDepth: most(Number.MAX_SAFE_INTEGER), maxDirectories: most(MAX_WALKED) },
        followDirectorySymlinks: z.boolean().nullish(),
      }),
    },
    ({ path, options: { followDirectorySymlinks, ...limits } }) => ({
      ...{ op: "walk", path, ...limits, followLinks: followDirectorySymlinks === true },
    }),
    ({ entries = [], errors = [], truncated = false }) => ({
      entries: entries
        .filter(({ kind }) => kind === "directory" || kind === "file")
        .map(({ name, kind }) => ({ path: uriOf(name), kind })),
      errors: errors.map((one) => ({ path: uriOf(one.path), message: one.message })),
      truncated,
    }),
  ),
  "fs/canonicalize": call(
    { path },
    ({ path }) => ({ op: "real", path }),
    ({ path = "/" }) => ({ path: uriOf(path) }),
  ),
  "fs/remove": call({ path, recursive: flag, force: flag }, (asked) => ({ op: "remove", ...asked })),
  "fs/copy": call(
    { sourcePath: path, destinationPath: path, recursive: z.boolean() },
    ({ sourcePath, destinationPath, recursive }) => ({ op: "copy", path: sourcePath, to: destinationPath, recursive }),
  ),
  "fs/open": call(
    { ...handle, path },
    ({ handleId, path }, owner) => ({ op: "open", owner, handle: handleId, path }),
    (_, __, { handleId }) => ({ handleId }),
  ),
  "fs/readBlock": call(
    { ...handle, offset, len: offset.max(MAX_BLOCK_BYTES) },
    ({ handleId, offset, len }, owner) => ({ op: "block", owner, handle: handleId, offset, length: len }),
    ({ isEnd }, chunk) => ({ chunk, eof: isEnd === true }),
  ),
  "fs/close": call(handle, ({ handleId }, owner) => ({ op: "close", owner, handle: handleId })),
};

/** @param owner Of open handles. @throws {CodexError} Also if there is no such call. */
export function fileCallOf(method: string, params: unknown, owner: string): FileCall {
  const read = Object.hasOwn(FILE_CALLS, method) ? FILE_CALLS[method] : undefined;
  if (read === undefined) throw new CodexError(ERROR.unknownMethod, `there is no method ${method.slice(0, 64)} here`);
  return read(params, owner);
}

/** @param session The owner of open files. @throws {CodexError} Also where there is no such method. */
export async function fileRequest(
  env: BridgeEnv & CommandEnv,
  audit: SessionAudit | undefined,
  { actor, who, sandboxKey, sandbox }: CodexSpec,
  session: string,
  operation: string,
  params: unknown,
): Promise<object> {
  const { order, bytes: given, result } = fileCallOf(operation, params, session);
  const path = subjectOf(order);
  const note = (bytes: number, outcome: string) =>
    audit?.note({ type: "file", operation, path, bytes, outcome }, undefined, actor);
  const refusal = commandRefusal(env, WRITING.includes(order.op) ? "fs:write" : "fs:read", who.isAdmin);
  if (refusal !== undefined) {
    note(0, refusal.error);
    throw new CodexError(ERROR.failed, refusal.message);
  }
  const { answer, bytes } = await askFiles(env, sandboxKey, sandbox, order, given);
  note((given ?? bytes).length, answer.ok ? "ok" : answer.code);
  if (answer.ok) return result(answer, base64Of(bytes));
  const isOfParams = answer.code === "EINVAL" || answer.code === "EFBIG";
  const code = answer.code === "ENOENT" ? ERROR.notFound : isOfParams ? ERROR.badParams : ERROR.failed;
  throw new CodexError(code, answer.message);
}

/** The path that it is about, for the record. */
function subjectOf(order: FileOrder): string {
  if ("to" in order) return `${order.path} to ${order.to}`;
  if ("path" in order) return order.path;
  return "handle" in order ? `handle ${order.handle}` : "";
}
