// Files of a sandbox (V4): one of them whole, or the workspace as an archive. What is done is on record, by its path and size, never its
// content; a list of commands that may start needs `fs:read` and `fs:write` for it.

import { ARCHIVE_PATH, type FileOrder, joined, MAX_FILE_BYTES } from "sandbox-stdio/core";
import { commandRefusal } from "../attach/command-policy.ts";
import { log } from "../base/log.ts";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { askFiles, type FilesAnswer, fetchFolder } from "../bridge/files.ts";
import { answerOf } from "../programs/answer-of.ts";
import type { Authorized } from "../programs/authorized.ts";
import { readSaid } from "../sandbox/said.ts";
import { refuse, refuseAs, type SandboxApiEnv, tenantOf } from "./caller.ts";

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

/** How failures are told, by their names in errno(3). */
const FAILURES: readonly (readonly [status: number, code: string, ...names: string[]])[] = [
  [403, "outside", "EOUTSIDE"],
  [403, "permission_denied", "EACCES", "EPERM"],
  [404, "not_found", "ENOENT", "ENOTDIR"],
  [400, "not_regular", "EISDIR", "ENOTREG", "ENXIO"],
  [400, "bad_path", "EINVAL", "ELOOP", "ENAMETOOLONG"],
  [413, "too_long", "EFBIG"],
  [507, "no_space", "ENOSPC", "EDQUOT"],
  [503, "unavailable", "EIO"],
];

/** A request about files, and who asks. */
type Asked = { readonly request: Request; readonly env: SandboxApiEnv; readonly who: Authorized };
type Right = "fs:read" | "fs:write";

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
  await note(asked, "write", path, content.length, answer.ok ? "ok" : answer.code);
  return answer.ok ? Response.json({ ok: true }) : failed(answer.code, path, answer.message);
}

export async function persist(asked: Asked): Promise<Response> {
  const excludes = new URL(asked.request.url).searchParams.getAll("excludes").join(",");
  const answer = await askArchive(asked, "persist", { method: "POST" }, { excludes });
  return answer.ok ? new Response(answer.body, { headers: BYTES }) : answer;
}

export async function hydrate(asked: Asked): Promise<Response> {
  const answer = await askArchive(asked, "hydrate", { method: "PUT", body: asked.request.body });
  return answer.ok ? Response.json({ ok: true }) : answer;
}

/** What the bridge answers about the workspace's archive, or a refusal. */
async function askArchive(
  asked: Asked,
  operation: "persist" | "hydrate",
  init: RequestInit,
  query: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const refusal = refusalOf(asked, WORKSPACE, operation === "persist" ? "fs:read" : "fs:write");
  if (refusal !== undefined) return refusal;
  const { request, env, who } = asked;
  const said = fetchFolder(env, who.project, ARCHIVE_PATH, { ...init, signal: request.signal }, query);
  const answer = await said.then(refusedAs, (error: unknown) => {
    log.warn("no way to the bridge:", error);
    return UNREACHED();
  });
  const length = Number(request.headers.get("Content-Length") ?? 0);
  await note(asked, operation, WORKSPACE, length, answer.ok ? "ok" : String(answer.status));
  return answer;
}

/** A good answer as it is, another one in the words of this interface. */
async function refusedAs(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { status } = response;
  const { error, message } = readSaid((await readText(response, MAX_SAID_BYTES, SAID_PATIENCE_MS)).text);
  if (error !== undefined && [400, 413, 507].includes(status)) return refuse(status, error, message ?? error);
  log.warn(`the bridge did nothing with an archive (${status}): ${message}`);
  return UNREACHED();
}

const UNREACHED = () =>
  failed("EIO", "the workspace", "the sandbox can't be reached just now, or has no room: try again");

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
async function contentOf({ body }: Request): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > MAX_FILE_BYTES + REST_BYTES) break;
    if (length > MAX_FILE_BYTES) pieces.length = 0;
    else pieces.push(piece);
  }
  return length > MAX_FILE_BYTES ? undefined : joined(pieces);
}

function ask({ env, who: { project } }: Asked, order: FileOrder, content?: Uint8Array): Promise<FilesAnswer> {
  return askFiles(env, project.sandboxKey, project.sandbox, order, content);
}

function failed(name: string, path: string, message: string): Response {
  const [status, code] = FAILURES.find(([, , ...names]) => names.includes(name)) ?? [500, "failed"];
  return refuse(status, code, `${path}: ${message}`);
}

/** Whatever is to be refused before anything is asked. */
function refusalOf({ env, who }: Asked, path: string, right: Right): Response | undefined {
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
