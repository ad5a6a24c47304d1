// The processes of codex' clients, each an ordinary session: the programs' own operations on it, as its person.

import { hash } from "node:crypto";
import { CodexError, ERROR } from "sandbox-stdio/codex";
import { defined } from "sandbox-stdio/core";
import { MAX_WRITE_BYTES } from "sandbox-stdio/programs";
import { CODEX, type CodexPlace, type CodexSpec } from "../attach/codex-spec.ts";
import { type EntryEnv, giveBack } from "../attach/entry-limits.ts";
import { nameProject, type ProjectEnv } from "../auth/project-gate.ts";
import { base64Of } from "../base/base64url.ts";
import { ask, untilAnswered } from "../programs/ask.ts";
import { passToStart } from "../programs/authorized.ts";
import type { Operation, ProgramAnswer, ProgramProcess } from "../programs/operations/call.ts";
import type { ChunksBody } from "../programs/operations/chunks.ts";
import { processOf } from "../programs/parse.ts";
import type { Asked } from "./calls.ts";
import type { CodexConnection } from "./connection.ts";

const KEEP_SECONDS = 86_400;
const KEEP_EXITED_SECONDS = 3_600;
const NAME_DIGITS = 20;
/** How long a full queue is waited for (E5). */
const ROOM_MS = 30_000;
/** Bytes of one write: as text each may be two. */
const PIECE_BYTES = Math.floor((MAX_WRITE_BYTES * 3) / 4);
const MAX_READ_BYTES = 1024 * 1024;
const TELL_BYTES = 64 * 1024;
const TELL_MS = 50_000;
const NOT_FOUND = 404;
/** The exit code of a process that ended without one. */
const UNKNOWN_EXIT = 255;

export type Target = { readonly env: EntryEnv & ProjectEnv; readonly spec: CodexSpec; readonly signal: AbortSignal };

/** The name of the session of a process (E3). */
export function nameOf(session: string, processId: string): string {
  return `codex-${hash("sha256", session + processId).slice(0, NAME_DIGITS)}`;
}

/** The Project Service was asked when the client connected. @throws {AuthFault} */
export async function keyOf(env: ProjectEnv, { tenant, sandbox, user }: CodexPlace, name: string): Promise<string> {
  return (await nameProject(env, { tenant, asked: { user } }, sandbox)).sessionKey(name);
}

/** Asks the session of this name once. @param more What the call has beside that. @returns 503 where its object restarted. */
export async function call(
  { env, spec, signal }: Target,
  name: string,
  operation: Operation,
  more: object = {},
): Promise<ProgramAnswer> {
  const { sandboxKey, sandbox, who, actor, pass } = spec;
  const asked = { sandboxKey, sandbox, session: name, who, actor, pass, mayStart: false, operation, ...more };
  return ask({ env, sessionKey: await keyOf(env, spec, name), signal }, asked);
}

/** Starts it. As every start, it is let in first, and counts for its client's address. @throws {CodexError} */
export async function start(target: Target, name: string, params: Asked<"start">): Promise<void> {
  const { env, spec } = target;
  const process = processFor(params);
  const { address } = spec.actor;
  const request = new Request("http://codex/", address === "" ? {} : { headers: { "CF-Connecting-IP": address } });
  const passed = await passToStart(
    request,
    env,
    { identity: spec.tenant, project: spec, ...spec },
    await keyOf(env, spec, name),
  );
  if ("code" in passed) throw new CodexError(ERROR.failed, passed.message);
  try {
    requireAnswer(
      await call(target, name, { type: "create", process, isFollowed: true }, { pass: passed, mayStart: true }),
    );
  } finally {
    await giveBack(env, passed);
  }
}

function processFor({ argv, cwd, env, envPolicy, tty, pipeStdin, arg0 }: Asked<"start">): ProgramProcess {
  // Another name for the program than its path: the shell's own `exec` gives it one.
  const named = arg0 == null || arg0 === argv[0] ? argv : ["bash", "-c", 'exec -a "$0" "$@"', arg0, ...argv];
  const [cmd = "", ...args] = named;
  const keeping = { keepSeconds: KEEP_SECONDS, keepExitedSeconds: KEEP_EXITED_SECONDS, awaited: true };
  const how = { tty, mode: "collaborative", delivery: "live", shellIntegration: false } as const;
  const parsed = processOf({ cmd, args, cwd, env, ...how, ...keeping }, "", !tty && !pipeStdin);
  if (!parsed.ok) throw new CodexError(ERROR.badParams, String(parsed.answer.body.message));
  return { ...parsed.value, ...defined({ envPolicy: envPolicy ?? undefined }) };
}

/** @throws {CodexError} Unless it is an answer. */
function requireAnswer({ status, body }: ProgramAnswer): void {
  if (status < 300) return;
  const { holder } = body;
  const whose = typeof holder === "string" && holder !== "" ? ` (${holder})` : "";
  throw new CodexError(ERROR.failed, `${String(body.message)}${whose}`);
}

/** Signals a process, or ends it. @returns Whether it was running. @throws {CodexError} */
export async function interfere(target: Target, name: string, how: "signal" | "kill"): Promise<boolean> {
  const asked = how === "kill" ? ({ type: how } as const) : ({ type: how, signal: "SIGINT" } as const);
  const answer = await call(target, name, { ...asked, writer: CODEX });
  if (hasEnded(answer)) return false;
  requireAnswer(answer);
  return true;
}

function hasEnded({ status, body: { error } }: ProgramAnswer): boolean {
  return status === NOT_FOUND || error === "exited" || error === "lost" || error === "stdin_closed";
}

// ---- Input (E5) --------------------------------------------------------------------------------------------------------

/** Queues a chunk beside the process whole, and once for each id. @throws {CodexError} */
export async function typeOnce(target: Target, name: string, { chunk, writeId }: Asked<"write">): Promise<string> {
  const untilMs = Date.now() + ROOM_MS;
  const digest = hash("sha256", chunk);
  for (let at = 0; at === 0 || at < chunk.length; at += PIECE_BYTES) {
    // The first piece reserves room for the others.
    const once = { id: `${at} ${writeId}`, hash: digest, whole: chunk.length - at };
    const bytes = chunk.slice(at, at + PIECE_BYTES);
    // What was typed already is not typed again.
    const answer = await untilAnswered(target, () => {
      const roomMs = Math.max(0, untilMs - Date.now());
      return call(target, name, { type: "write", writer: CODEX, bytes, once, waitMs: 0, roomMs });
    });
    if (answer.status === NOT_FOUND) return "unknownProcess";
    if (hasEnded(answer)) return "stdinClosed";
    if (answer.body.error === "other_write") {
      throw new CodexError(ERROR.badParams, "another chunk was written with this writeId");
    }
    requireAnswer(answer);
  }
  return "accepted";
}

// ---- Output (E4) -------------------------------------------------------------------------------------------------------

type Chunk = { readonly seq: number; readonly stream: "stdout" | "stderr" | "pty"; readonly chunk: string };

/**
 * @param isAwaited Whether the process waits for these calls. Of two readers only one may say what has been read: bytes that the
 *   other lacks would be dropped.
 * @returns The answer to *process/read*. @throws {CodexError}
 */
export async function read(target: Target, name: string, asked: Omit<Asked<"read">, "processId">, isAwaited: boolean) {
  const after = asked.afterSeq ?? 0;
  const operation: Operation = {
    type: "chunks",
    after,
    maxBytes: Math.min(asked.maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES),
    waitMs: asked.waitMs ?? 0,
    ...(isAwaited && { reader: `${target.spec.who.name} (codex)` }),
  };
  const answer = await untilAnswered(target, () => call(target, name, operation));
  // If somebody ended the session, nothing is known of it any more.
  const isForgotten = answer.status === NOT_FOUND;
  if (!isForgotten) requireAnswer(answer);
  const body = isForgotten ? { ...FORGOTTEN, last: after } : (answer.body as unknown as ChunksBody);
  const { last, isEnded, exitCode, failure } = body;
  return {
    ...{ chunks: chunksOf(body, answer.bytes), nextSeq: isEnded ? last + 3 : last + 1 },
    ...{ exited: isEnded, exitCode: isEnded ? (exitCode ?? UNKNOWN_EXIT) : null, closed: isEnded },
    ...{ failure, sandboxDenied: false },
  };
}

const FORGOTTEN = {
  ...{ isTty: false, chunks: [], isEnded: true, exitCode: null },
  failure: "the process is not kept any more",
};

function chunksOf({ chunks, isTty }: ChunksBody, bytes: Uint8Array = new Uint8Array(0)): Chunk[] {
  let at = 0;
  return chunks.map(([seq, stream, length]) => {
    const chunk = base64Of(bytes.subarray(at, at + length));
    at += length;
    return { seq, stream: isTty ? "pty" : stream === 2 ? "stderr" : "stdout", chunk };
  });
}

/** Tells a client what a process says, until that or the client has ended. @param told Chunks up to this number have been sent. */
export async function tellOutput(
  target: Target,
  client: CodexConnection,
  { name, processId, sent }: { readonly name: string; readonly processId: string; readonly sent: number },
  told: (sent: number, isClosed: boolean) => void,
): Promise<void> {
  for (let afterSeq = sent; ; ) {
    await client.room();
    const asked = { afterSeq, maxBytes: TELL_BYTES, waitMs: TELL_MS };
    // Asked again where it could not be reached: it may be out of reach for long.
    const news = await read(target, name, asked, true).catch(() => undefined);
    if (client.isEnded) return;
    if (news === undefined) continue;
    for (const chunk of news.chunks) client.notify("process/output", { processId, ...chunk });
    const { closed, exitCode, nextSeq } = news;
    if (closed) {
      client.notify("process/exited", { processId, seq: nextSeq - 2, exitCode, sandboxDenied: false });
      client.notify("process/closed", { processId, seq: nextSeq - 1 });
    }
    afterSeq = closed ? nextSeq - 3 : nextSeq - 1;
    told(afterSeq, closed);
    if (closed) return;
  }
}
