// Files of a sandbox (V4): one of them whole, or the workspace as an archive. What is done is on record, by its path and size, never its
// content; a list of commands that may start needs `fs:read` and `fs:write` for it.

import { ARCHIVE_PATH, type FileOrder, joined, MAX_FILE_BYTES } from "sandbox-stdio/core";
import { commandRefusal } from "../attach/command-policy.ts";
import { log } from "../base/log.ts";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { askFiles, fetchFolder } from "../bridge/files.ts";
import { answerOf, FULL_RETRY_SECONDS } from "../programs/answer-of.ts";
import type { Authorized } from "../programs/authorized.ts";
import { readSaid } from "../sandbox/said.ts";
import { Refused, refuse, refuseAs, type SandboxApiEnv, tenantOf } from "./caller.ts";

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

export async function readFile(asked: Asked): Promise<Response> {
  const path = pathOf(asked.request);
  requireAllowed(asked, "fs:read");
  return new Response(await ask(asked, { op: "read", path, maxBytes: MAX_FILE_BYTES, within: WITHIN }), {
    headers: BYTES,
  });
}

export async function writeFile(asked: Asked): Promise<Response> {
  const path = pathOf(asked.request);
  requireAllowed(asked, "fs:write");
  const content = await contentOf(asked.request);
  if (content === undefined) throw failed("EFBIG", path, `the file has more than ${MAX_FILE_BYTES} bytes`);
  await ask(asked, { op: "write", path, within: WITHIN }, content);
  return Response.json({ ok: true });
}

export async function persist(asked: Asked): Promise<Response> {
  const excludes = new URL(asked.request.url).searchParams.getAll("excludes").join(",");
  const { body } = await askArchive(asked, "persist", { method: "POST" }, { excludes });
  return new Response(body, { headers: BYTES });
}

export async function hydrate(asked: Asked): Promise<Response> {
  await askArchive(asked, "hydrate", { method: "PUT", body: asked.request.body });
  return Response.json({ ok: true });
}

/** @returns The bytes that were read. @throws {Refused} */
async function ask(
  asked: Asked,
  order: Extract<FileOrder, { op: "read" | "write" }>,
  content?: Uint8Array,
): Promise<Uint8Array> {
  const { env, who } = asked;
  const { op, path } = order;
  const { answer, bytes } = await askFiles(env, who.project.sandboxKey, who.project.sandbox, order, content);
  await note(asked, op, path, (content ?? bytes).length, answer.ok ? "ok" : answer.code);
  if (answer.ok) return bytes;
  throw failed(answer.code, path, answer.message);
}

/** Asks about the workspace's archive. @throws {Refused} */
async function askArchive(
  asked: Asked,
  operation: "persist" | "hydrate",
  init: RequestInit,
  query: Readonly<Record<string, string>> = {},
): Promise<Response> {
  requireAllowed(asked, operation === "persist" ? "fs:read" : "fs:write");
  const { request, env, who } = asked;
  const length = Number(request.headers.get("Content-Length") ?? 0);
  try {
    const answer = await fetchFolder(env, who.project, ARCHIVE_PATH, { ...init, signal: request.signal }, query);
    if (!answer.ok) throw await refusalOf(answer);
    await note(asked, operation, WORKSPACE, length, "ok");
    return answer;
  } catch (error) {
    if (!(error instanceof Refused)) log.warn("no way to the bridge:", error);
    const refused = error instanceof Refused ? error : UNREACHED();
    await note(asked, operation, WORKSPACE, length, String(refused.response.status));
    throw refused;
  }
}

async function refusalOf(response: Response): Promise<Refused> {
  const { status } = response;
  const { error, message } = readSaid((await readText(response, MAX_SAID_BYTES, SAID_PATIENCE_MS)).text);
  if (error !== undefined && [400, 413, 507].includes(status)) return refuse(status, error, message ?? error);
  if (status === 429) {
    return refuseAs({ status, body: { error, message }, retryAfterSeconds: FULL_RETRY_SECONDS });
  }
  log.warn(`the bridge did nothing with an archive (${status}): ${message}`);
  return UNREACHED();
}

const UNREACHED = () =>
  failed("EIO", "the workspace", "the sandbox can't be reached just now, or has no room: try again");

/** @returns The absolute path behind `/file/`, as it was sent. @throws {Refused} */
function pathOf({ url }: Request): string {
  const { pathname } = new URL(url);
  try {
    return decodeURIComponent(pathname.slice(pathname.indexOf("/file/") + "/file".length));
  } catch {
    throw refuse(400, "bad_path", "the path can't be read: encode its UTF-8");
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

function failed(name: string, path: string, message: string): Refused {
  const [status, code] = FAILURES.find(([, , ...names]) => names.includes(name)) ?? [500, "failed"];
  return refuse(status, code, `${path}: ${message}`);
}

function requireAllowed({ env, who }: Asked, right: "fs:read" | "fs:write"): void {
  const refusal = commandRefusal(env, right, who.who.isAdmin);
  if (refusal !== undefined) throw refuseAs(answerOf(refusal));
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
