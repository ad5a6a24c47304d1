// Files of a sandbox (V4): one of them whole, or the workspace as an archive. What is done is on record, by its path and size, never its
// content; a list of commands that may start needs `fs:read` and `fs:write` for it.

import { ARCHIVE_PATH, type FileOrder } from "sandbox-stdio/core";
import { commandRefusal } from "../attach/command-policy.ts";
import { log } from "../base/log.ts";
import { readText } from "../base/read-text.ts";
import { askFiles, type FilesAnswer } from "../bridge/files.ts";
import { authorization, fetchBridge } from "../bridge/upstream.ts";
import { answerOf } from "../programs/answer-of.ts";
import type { Authorized } from "../programs/authorized.ts";
import { readSaid } from "../sandbox/said.ts";
import { type SandboxApiEnv, tenantOf } from "./caller.ts";
import { refuse, refuseAs } from "./refuse.ts";

const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** Of a body that is too long, so much more is taken: many clients look for an answer only when they have sent everything. */
const REST_BYTES = 32 * 1024 * 1024;
const MAX_SAID_BYTES = 64 * 1024;
const SAID_PATIENCE_MS = 10_000;
/** Where a file must lie, once its links are resolved. */
const WITHIN = ["/workspace", "/tmp"];
const BYTES = "application/octet-stream";

/** How a failure is told, by its name in errno(3). */
const FAILURES: Readonly<Record<string, readonly [number, string]>> = {
  EOUTSIDE: [403, "outside"],
  EACCES: [403, "permission_denied"],
  EPERM: [403, "permission_denied"],
  ENOENT: [404, "not_found"],
  ENOTDIR: [404, "not_found"],
  EISDIR: [400, "not_regular"],
  ENOTREG: [400, "not_regular"],
  ENXIO: [400, "not_regular"],
  EINVAL: [400, "bad_path"],
  ELOOP: [400, "bad_path"],
  ENAMETOOLONG: [400, "bad_path"],
  EFBIG: [413, "too_long"],
  ENOSPC: [507, "no_space"],
  EIO: [503, "unavailable"],
};

type Doing = "read" | "write" | "persist" | "hydrate";

export async function readFile(request: Request, env: SandboxApiEnv, who: Authorized): Promise<Response> {
  const path = pathOf(request);
  if (path === undefined) return badPath();
  const refusal = policyRefusal(env, who, "fs:read");
  if (refusal !== undefined) return refusal;
  const { answer, bytes } = await ask(env, who, { op: "read", path, maxBytes: MAX_FILE_BYTES, within: WITHIN });
  await note(env, who, "read", path, bytes.length, answer.ok ? "ok" : answer.code);
  if (!answer.ok) return failed(answer.code, path, answer.message);
  return new Response(bytes, { headers: { "Content-Type": BYTES, "X-Content-Type-Options": "nosniff" } });
}

export async function writeFile(request: Request, env: SandboxApiEnv, who: Authorized): Promise<Response> {
  const path = pathOf(request);
  if (path === undefined) return badPath();
  const refusal = policyRefusal(env, who, "fs:write");
  if (refusal !== undefined) return refusal;
  const content = await contentOf(request);
  if (content === undefined) return failed("EFBIG", path, `the file has more than ${MAX_FILE_BYTES} bytes`);
  const { answer } = await ask(env, who, { op: "write", path, within: WITHIN }, content);
  await note(env, who, "write", path, content.length, answer.ok ? "ok" : answer.code);
  return answer.ok ? Response.json({ ok: true }) : failed(answer.code, path, answer.message);
}

export async function persist(request: Request, env: SandboxApiEnv, who: Authorized): Promise<Response> {
  const refusal = policyRefusal(env, who, "fs:read");
  if (refusal !== undefined) return refusal;
  const excludes = new URL(request.url).searchParams.getAll("excludes").join(",");
  const response = await askArchive(env, who, { method: "POST", signal: request.signal }, excludes);
  await note(env, who, "persist", WITHIN[0] ?? "", 0, response.ok ? "ok" : String(response.status));
  if (!response.ok) return saidBy(response);
  return new Response(response.body, { headers: { "Content-Type": BYTES, "Cache-Control": "no-store" } });
}

export async function hydrate(request: Request, env: SandboxApiEnv, who: Authorized): Promise<Response> {
  const refusal = policyRefusal(env, who, "fs:write");
  if (refusal !== undefined) return refusal;
  const response = await askArchive(env, who, { method: "PUT", body: request.body, signal: request.signal });
  const answer = response.ok ? Response.json({ ok: true }) : await saidBy(response);
  const length = Number(request.headers.get("Content-Length") ?? 0);
  await note(env, who, "hydrate", WITHIN[0] ?? "", length, answer.ok ? "ok" : String(answer.status));
  return answer;
}

/** @returns The absolute path behind `/file/`, as it was sent; undefined where it can't be read. */
function pathOf({ url }: Request): string | undefined {
  const { pathname } = new URL(url);
  const from = pathname.indexOf("/file/") + "/file".length;
  try {
    return decodeURIComponent(pathname.slice(from));
  } catch {
    return undefined; // Not UTF-8.
  }
}

/** @returns undefined where it is longer than a file may be. */
async function contentOf({ body, headers }: Request): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const said = Number(headers.get("Content-Length") ?? 0);
  if (body === null) return new Uint8Array(0);
  for await (const piece of body as ReadableStream<Uint8Array>) {
    length += piece.length;
    if (Math.max(length, said) <= MAX_FILE_BYTES) pieces.push(piece);
    else pieces.length = 0;
    if (length > MAX_FILE_BYTES + REST_BYTES) return undefined;
  }
  if (length > MAX_FILE_BYTES) return undefined;
  const content = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    content.set(piece, at);
    at += piece.length;
  }
  return content;
}

function ask(env: SandboxApiEnv, { project }: Authorized, order: FileOrder, bytes?: Uint8Array): Promise<FilesAnswer> {
  return askFiles(env, project.sandboxKey, project.sandbox, order, bytes);
}

/** What the bridge answers about the workspace's archive: bytes, or a refusal. */
async function askArchive(
  env: SandboxApiEnv,
  { project }: Authorized,
  init: RequestInit,
  excludes = "",
): Promise<Response> {
  const { sandboxKey, sandbox: label } = project;
  try {
    const query = new URLSearchParams({ sandbox: sandboxKey, label, excludes });
    const headers = { Authorization: await authorization(env, sandboxKey) };
    return await fetchBridge(env, sandboxKey, `${ARCHIVE_PATH}?${query}`, { ...init, headers });
  } catch (error) {
    log.warn("no way to the bridge:", error);
    return new Response(null, { status: 503 });
  }
}

async function saidBy(response: Response): Promise<Response> {
  const { error, message } = readSaid((await readText(response, MAX_SAID_BYTES, SAID_PATIENCE_MS)).text);
  const isOurs = error !== undefined && [400, 413, 507].includes(response.status);
  if (isOurs) return refuse(response.status, error, message ?? error);
  log.warn(`the bridge did nothing with an archive (${response.status}): ${message}`);
  return failed("EIO", "the workspace", "the sandbox can't be reached just now, or has no room: try again");
}

function failed(name: string, path: string, message: string): Response {
  const [status, code] = FAILURES[name] ?? [500, "failed"];
  return refuse(status, code, `${path}: ${message}`);
}

function badPath(): Response {
  return refuse(400, "bad_path", "the path can't be read: encode its UTF-8");
}

function policyRefusal(env: SandboxApiEnv, { who }: Authorized, right: "fs:read" | "fs:write"): Response | undefined {
  const refusal = commandRefusal(env, right, who.isAdmin);
  return refusal && refuseAs(answerOf(refusal));
}

async function note(
  env: SandboxApiEnv,
  { identity, actor, project }: Authorized,
  operation: Doing,
  path: string,
  bytes: number,
  outcome: string,
): Promise<void> {
  const tenant = await tenantOf(env, identity);
  await tenant.noteFile({ type: "file", operation, path: path.slice(0, 4096), bytes, outcome }, actor, project.sandbox);
}
