// Starts a command exactly once, even if a response gets lost: later attempts ask for its incarnation first. Only a process that
// somebody else ended and removed meanwhile can't be told from one that never started.

import { setTimeout as pause } from "node:timers/promises";
import { type RunRequest, type Sandbox, StdioError } from "sandbox-stdio/client";
import { fetchFailure } from "../base/network-errors.ts";
import { CliError, EXIT } from "../base/outcome.ts";
import { Silence } from "../connection/silence.ts";

export type Named = RunRequest & { readonly session: string };

/** Attempts to find a process that may have been started: with pauses of up to 4 s, for more than a minute. */
export const RETRIES = 20;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/** The server's default. */
const USUAL_KEEP_EXITED_SECONDS = 600;
const HTTP_NOT_FOUND = 404;
/** Statuses from here on don't mean that anything was started: rate limits and server faults. */
const HTTP_TOO_MANY = 429;
/** Errors without a connection: nothing was started. */
const UNREACHED =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|.*(CERT|TLS|SSL).*)$/;

/**
 * Retries a start until its outcome is known. If nobody listens, it fails at once. If the session is absent after an ended one would
 * have been removed, the command may have run: then it is not started again.
 * @param once Does not retry by itself. @param start Starts the process, or finds the one of its name.
 */
export async function startOnce<T>(
  once: Sandbox,
  { session, keepExitedSeconds = USUAL_KEEP_EXITED_SECONDS }: Pick<Named, "session" | "keepExitedSeconds">,
  start: (only: { readonly incarnation?: string }) => Promise<T>,
  { retries = RETRIES, isPassing = mayHaveStarted }: RetryPolicy = {},
): Promise<T> {
  // Wall-clock time: other clocks stop while the machine sleeps.
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

/** `isPassing`: whether the first failure is retried. */
export type RetryPolicy = { readonly retries?: number; readonly isPassing?: (error: unknown) => boolean };

/** Whether the process no longer exists. */
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
  const message = `the response was lost and session ${session} does not exist: the command may have run, so it is not started again`;
  return new CliError(message, EXIT.failed, { code: "lost" });
}

function mayHaveStarted(error: unknown): boolean {
  if (!(error instanceof StdioError) || error.code !== "unreachable" || error.cause instanceof Silence) return false;
  const failure = fetchFailure(error.cause);
  return !(failure !== undefined && "code" in failure && isUnreached(failure));
}

function isUnreached(failure: Error & { readonly code?: unknown; readonly syscall?: unknown }): boolean {
  const { code, syscall } = failure;
  // A connection that timed out while reading may have carried the request.
  return code === "ETIMEDOUT" ? syscall !== "read" : UNREACHED.test(String(code));
}

/** For a detached start, which also retries when the server is briefly unavailable. */
export const DETACHED_RETRIES: RetryPolicy = {
  retries: 5,
  isPassing: (error) => mayHaveStarted(error) || isFault(error),
};

function isOutage(error: unknown): boolean {
  if (!(error instanceof StdioError) || error.cause instanceof Silence) return false;
  return error.code === "unreachable" || isFault(error);
}

function isFault(error: unknown): boolean {
  return error instanceof StdioError && (error.code === "unavailable" || (error.status ?? 0) >= HTTP_TOO_MANY);
}
