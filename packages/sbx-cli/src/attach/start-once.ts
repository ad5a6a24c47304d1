// A command is started once, also where an answer gets lost. It is asked for again by its incarnation, or where no session is there and an
// ended one would still be kept: only one that somebody else ended and forgot meanwhile can't be told from one that never began.

import { setTimeout as pause } from "node:timers/promises";
import { type RunRequest, type Sandbox, StdioError } from "sandbox-stdio/client";
import { fetchFailure } from "../base/network-words.ts";
import { CliError, EXIT } from "../base/outcome.ts";
import { Silence } from "../connection/silence.ts";

export type Named = RunRequest & { readonly session: string };

/** How often a process is asked for that may have been started: with pauses of up to 4 s, for a minute and more. */
export const RETRIES = 20;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/** The server's own, where none is given. */
const USUAL_KEEP_EXITED_SECONDS = 600;
const HTTP_NOT_FOUND = 404;
/** From here on: too many calls, for which nothing was done, and faults of the server. */
const HTTP_TOO_MANY = 429;
/** Nobody was reached: nothing has been started. */
const UNREACHED =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|.*(CERT|TLS|SSL).*)$/;

/**
 * An address where nobody listens is told at once. Where the process may have been started, the server is asked whether it is there.
 * If it is not, it may also have ended and been forgotten, once as much time has passed as an ended one is kept: then it is not started.
 * @param once Repeats nothing by itself.
 * @param start Starts it there, or finds that one process of its name.
 */
export async function startOnce<T>(
  once: Sandbox,
  { session, keepExitedSeconds = USUAL_KEEP_EXITED_SECONDS }: Pick<Named, "session" | "keepExitedSeconds">,
  start: (only: { readonly incarnation?: string }) => Promise<T>,
  { retries = RETRIES, isPassing = mayHaveStarted }: Patience = {},
): Promise<T> {
  // By the wall clock: a machine that sleeps lets other clocks stand still.
  const forgottenMs = Date.now() + keepExitedSeconds * 1_000;
  for (let failures = 0; ; failures += 1) {
    try {
      if (failures === 0) return await start({});
      const incarnation = await incarnationOf(once, session);
      if (incarnation !== undefined) return await start({ incarnation });
      if (Date.now() >= forgottenMs) throw unknownEnd(session);
      return await start({});
    } catch (error) {
      const isOver = failures === 0 ? !isPassing(error) : !isOutage(error);
      if (isOver || failures >= retries) throw error;
      await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures));
    }
  }
}

/** `isPassing`: whether it is tried again after the first failure. */
export type Patience = { readonly retries?: number; readonly isPassing?: (error: unknown) => boolean };

/** Whether the one process that was meant is no longer there. */
export function isForgotten(error: unknown): boolean {
  return error instanceof StdioError && error.status === HTTP_NOT_FOUND;
}

async function incarnationOf(at: Sandbox, session: string): Promise<string | undefined> {
  try {
    return (await at.session(session).describe()).incarnation;
  } catch (error) {
    if (isForgotten(error)) return undefined;
    throw error;
  }
}

function unknownEnd(session: string): CliError {
  const message = `the answer got lost, and session ${session} is not there: the command may have run, and is not started again`;
  return new CliError(message, EXIT.failed, { code: "lost" });
}

function mayHaveStarted(error: unknown): boolean {
  if (!(error instanceof StdioError) || error.code !== "unreachable" || error.cause instanceof Silence) return false;
  const failure = fetchFailure(error.cause);
  return !(failure !== undefined && "code" in failure && isUnreached(failure));
}

function isUnreached(failure: Error & { readonly code?: unknown; readonly syscall?: unknown }): boolean {
  const { code, syscall } = failure;
  // A connection that was there, and has timed out, may have carried the request.
  return code === "ETIMEDOUT" ? syscall !== "read" : UNREACHED.test(String(code));
}

/** For who starts it and leaves: a server that can't just now is asked again a few times. */
export const PATIENT: Patience = { retries: 5, isPassing: (error) => mayHaveStarted(error) || isFault(error) };

function isOutage(error: unknown): boolean {
  if (!(error instanceof StdioError) || error.cause instanceof Silence) return false;
  return error.code === "unreachable" || isFault(error);
}

function isFault(error: unknown): boolean {
  return error instanceof StdioError && (error.code === "unavailable" || (error.status ?? 0) >= HTTP_TOO_MANY);
}
