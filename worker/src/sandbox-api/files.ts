// Files of a sandbox (V4): one of them whole, or the workspace as an archive. What is done is on record, by its path and size, never its
// content; a list of commands that may start needs `fs:read` and `fs:write` for it.

import { ARCHIVE_PATH, type FileOrder, MAX_FILE_BYTES } from "sandbox-stdio/core";
import { commandRefusal } from "../attach/command-policy.ts";
import { log } from "../base/log.ts";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { askFiles, type FilesAnswer, fetchFolder } from "../bridge/files.ts";
import { answerOf } from "../programs/answer-of.ts";
import type { Authorized } from "../programs/authorized.ts";
import { readSaid } from "../sandbox/said.ts";
import { type SandboxApiEnv, tenantOf } from "./caller.ts";
import { refuse, refuseAs } from "./refuse.ts";

const MAX_SAID_BYTES = 64 * 1024;
const SAID_PATIENCE_MS = 10_000;
const WORKSPACE = "/workspace";
/** Where a file must lie, once its links are resolved. */
const WITHIN = [WORKSPACE, "/tmp"];
const BYTES = {
  "Content-Type": "application/octet-stream",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

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

/** A request about files, and who asks. */
type Asked = { readonly request: Request; readonly env: SandboxApiEnv; readonly who: Authorized };

export async function readFile(asked: Asked): Promise<Response> {
  const path = pathOf(asked.request);
  const refusal = refusalOf(asked, path, "fs:read");
  if (refusal !== undefined) return refusal;
  const { answer, bytes } = await ask(asked, { op: "read", path, maxBytes: MAX_FILE_BYTES, within: WITHIN });
  await note(asked, "read", path, bytes.length, answer.ok ? "ok" : answer.code);
  return answer.ok ? new Response(bytes, { headers: BYTES }) : failed(answer.code, path, answer.message);
}

export async function writeFile(asked: Asked): Promise<Response> {
  const path = pathOf(asked.request);
  const refusal = refusalOf(asked, path, "fs:write");
  if (refusal !== undefined) return refusal;
  const content = await contentOf(asked.request);
  if (content === undefined) return failed("EFBIG", path, `the file has more than ${MAX_FILE_BYTES} bytes`);
  const { answer } = await ask(asked, { op: "write", path, within: WITHIN }, content);
  await note(asked, "write", path, content.size, answer.ok ? "ok" : answer.code);
  return answer.ok ? Response.json({ ok: true }) : failed(answer.code, path, answer.message);
}

export async function persist(asked: Asked): Promise<Response> {
  const refusal = refusalOf(asked, WORKSPACE, "fs:read");
  if (refusal !== undefined) return refusal;
  const excludes = new URL(asked.request.url).searchParams.getAll("excludes").join(",");
  const response = await askArchive(asked, { method: "POST" }, { excludes });
  await note(asked, "persist", WORKSPACE, 0, response.ok ? "ok" : String(response.status));
  return response.ok ? new Response(response.body, { headers: BYTES }) : saidBy(response);
}

export async function hydrate(asked: Asked): Promise<Response> {
  const refusal = refusalOf(asked, WORKSPACE, "fs:write");
  if (refusal !== undefined) return refusal;
  const { body, headers } = asked.request;
  const response = await askArchive(asked, { method: "PUT", body });
  const answer = response.ok ? Response.json({ ok: true }) : await saidBy(response);
  const length = Number(headers.get("Content-Length") ?? 0);
  await note(asked, "hydrate", WORKSPACE, length, answer.ok ? "ok" : String(answer.status));
  return answer;
}

/** @returns The absolute path behind `/file/`, as it was sent; empty where it can't be read. */
function pathOf({ url }: Request): string {
  const { pathname } = new URL(url);
  try {
    return decodeURIComponent(pathname.slice(pathname.indexOf("/file/") + "/file".length));
  } catch {
    return ""; // Not UTF-8.
  }
}

/** @returns undefined where it is longer than a file may be. Of such a one so much more is taken as of other bodies. */
async function contentOf({ body }: Request): Promise<Blob | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > MAX_FILE_BYTES + REST_BYTES) break;
    if (length > MAX_FILE_BYTES) pieces.length = 0;
    else pieces.push(piece);
  }
  return length > MAX_FILE_BYTES ? undefined : new Blob(pieces);
}

function ask({ env, who: { project } }: Asked, order: FileOrder, content?: Blob): Promise<FilesAnswer> {
  return askFiles(env, project.sandboxKey, project.sandbox, order, content);
}

/** What the bridge answers about the workspace's archive: bytes, or a refusal. */
async function askArchive(
  { request: { signal }, env, who }: Asked,
  init: RequestInit,
  query: Readonly<Record<string, string>> = {},
): Promise<Response> {
  try {
    return await fetchFolder(env, who.project, ARCHIVE_PATH, { ...init, signal }, query);
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

/** Whatever is to be refused before anything is asked. */
function refusalOf({ env, who }: Asked, path: string, right: "fs:read" | "fs:write"): Response | undefined {
  if (path === "") return refuse(400, "bad_path", "the path can't be read: encode its UTF-8");
  const refusal = commandRefusal(env, right, who.who.isAdmin);
  return refusal && refuseAs(answerOf(refusal));
}

async function note(
  { env, who: { identity, actor, project } }: Asked,
  operation: "read" | "write" | "persist" | "hydrate",
  path: string,
  bytes: number,
  outcome: string,
): Promise<void> {
  const tenant = await tenantOf(env, identity);
  await tenant.noteFile({ type: "file", operation, path: path.slice(0, 4096), bytes, outcome }, actor, project.sandbox);
}
