// A command is started once, also where an answer gets lost: it is asked for again only where that can't start it a second time.

import { setTimeout as pause } from "node:timers/promises";
import { type RunAnswer, type RunRequest, type Sandbox, StdioError } from "sandbox-stdio/client";
import { fetchFailure } from "./network-words.ts";
import { CliError, EXIT } from "./outcome.ts";
import { Silence } from "./silence.ts";

export type Named = RunRequest & { readonly session: string };

/** How often a process is asked for that may have been started: with pauses of up to 4 s, for a minute and more. */
export const RETRIES = 20;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/** The server's own, where none is given. */
const USUAL_KEEP_EXITED_SECONDS = 600;
const HTTP_NOT_FOUND = 404;
const HTTP_FAULT = 500;
/** Nobody was reached: nothing has been started. */
const UNREACHED =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|.*(CERT|TLS|SSL).*)$/;

/**
 * An address where nobody listens is told at once. Where the process may have been started, the server is asked whether it is there.
 * If it is not, it may also have ended and been forgotten, once as much time has passed as an ended one is kept: then it is not started.
 * @param once Repeats nothing by itself.
 */
export async function startOnce(once: Sandbox, request: Named): Promise<RunAnswer> {
  const { keepExitedSeconds = USUAL_KEEP_EXITED_SECONDS } = request;
  // By the wall clock: a machine that sleeps lets other clocks stand still.
  const forgottenMs = Date.now() + keepExitedSeconds * 1_000;
  for (let failures = 0; ; failures += 1) {
    try {
      if (failures === 0) return await once.run(request);
      const incarnation = await incarnationOf(once, request.session);
      if (incarnation !== undefined) return await once.run({ ...request, incarnation });
      if (Date.now() >= forgottenMs) throw unknownEnd(request.session);
      return await once.run(request);
    } catch (error) {
      const isPassing = failures === 0 ? mayHaveStarted(error) : isOutage(error);
      if (!isPassing || failures >= RETRIES) throw error;
      await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures));
    }
  }
}

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

function isOutage(error: unknown): boolean {
  if (!(error instanceof StdioError) || error.cause instanceof Silence) return false;
  return error.code === "unreachable" || error.code === "unavailable" || (error.status ?? 0) >= HTTP_FAULT;
}
