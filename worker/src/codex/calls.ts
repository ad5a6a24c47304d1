// What codex' clients ask for (section 12), as schemas: unknown fields are ignored, and all else is checked. Calls about files become
// orders to the file helper (E6).

import { Buffer } from "node:buffer";
import { CodexError, ERROR, pathOf, uriOf } from "sandbox-stdio/codex";
import { type FileOrder, type FileSuccess, isRecord, utf8Length } from "sandbox-stdio/core";
import { z } from "zod";

/** Bytes of a file that is read or written whole. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024;
const MAX_BLOCK_BYTES = 1024 * 1024;
const MAX_CHUNK_BYTES = 1024 * 1024;
const MAX_WALKED = 10_000;
const MAX_WORDS = 65_536;

const words = z.array(z.string()).max(MAX_WORDS);
const texts = z.record(z.string(), z.string());
const offset = z.int().nonnegative();
const processId = z.string().refine((id) => id !== "" && utf8Length(id) <= 256, "must have 1 to 256 bytes");
const path = z.string().transform(pathOf);
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value !== false);
const bytes = (most: number) =>
  z
    .base64()
    .transform((text): Uint8Array => Buffer.from(text, "base64"))
    .refine(({ length }) => length <= most, `must have at most ${most} bytes`);

/** Latin-1: a character for each byte. */
const chunk = z
  .base64()
  .transform((text) => atob(text))
  .refine(({ length }) => length <= MAX_CHUNK_BYTES, `must have at most ${MAX_CHUNK_BYTES} bytes`);

const envPolicy = z.object({
  inherit: z.enum(["all", "core", "none"]),
  ignoreDefaultExcludes: z.boolean().optional(),
  exclude: words.optional(),
  set: texts.optional(),
  includeOnly: words.optional(),
});

export const SHAPES = {
  initialize: z.object({ clientName: z.string().max(256), resumeSessionId: z.string().max(256).nullish() }),
  start: z.object({
    ...{ processId, argv: words, cwd: path, env: texts, envPolicy: envPolicy.nullish(), tty: z.boolean() },
    ...{ pipeStdin: z.boolean().default(false), arg0: z.string().nullish() },
  }),
  read: z.object({
    ...{ processId, afterSeq: offset.nullish(), maxBytes: offset.nullish() },
    waitMs: z.int().min(0).max(600_000).nullish(),
  }),
  write: z.object({ processId, chunk, writeId: z.string().max(256) }),
  signal: z.object({ processId, signal: z.literal("interrupt") }),
  terminate: z.object({ processId }),
};

/** As it was read. */
export type Asked<K extends keyof typeof SHAPES> = z.output<(typeof SHAPES)[K]>;

/** @throws {CodexError} */
export function parsed<S extends z.ZodType>(shape: S, params: unknown): z.output<S> {
  requireNoSandbox(params);
  const read = shape.safeParse(params);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.length ? `"${issue.path.join(".")}"` : "the parameters";
  throw new CodexError(ERROR.badParams, `${where}: ${issue?.message}`);
}

/** E3: nobody may think that something is confined here which is not. */
function requireNoSandbox(params: unknown): void {
  const { sandbox = null, enforceManagedNetwork } = isRecord(params) ? params : {};
  const permissions = isRecord(sandbox) ? sandbox.permissions : undefined;
  const isFree = sandbox === null || (isRecord(permissions) && permissions.type === "disabled");
  if (isFree && enforceManagedNetwork !== true) return;
  throw new CodexError(ERROR.badParams, "no sandbox here: the container is the sandbox");
}

// ---- Files -------------------------------------------------------------------------------------------------------------

export type FileCall = {
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
