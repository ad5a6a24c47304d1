// A start under a name is repeated without starting a second process, also after a long sleep. It is asked for again by its
// incarnation, or where no session is there and an ended one would still be kept.

import { StdioError } from "../connect/error.ts";
import { type Call, type Caller, callJson, repeatedly } from "./call.ts";
import type { Description, ProcessFields } from "./program-types.ts";

/** The server's own, where none is given. */
const USUAL_KEEP_EXITED_SECONDS = 600;
const HTTP_NOT_FOUND = 404;

/**
 * @param path Of the session.
 * @throws {StdioError} `lost`: the answer got lost, and by now a process that had ended would be forgotten: it may have run.
 */
export async function startOnce<T>(
  caller: Caller,
  path: string,
  call: Omit<Call, "isRepeatable" | "body"> & { readonly body: ProcessFields },
): Promise<T> {
  const { keepExitedSeconds = USUAL_KEEP_EXITED_SECONDS, incarnation, attempt, ended } = call.body;
  // By the wall clock: a machine that sleeps lets other clocks stand still.
  const forgottenMs = Date.now() + keepExitedSeconds * 1_000;
  const once = { ...caller, retries: 0 };
  const again = { ...call, isRepeatable: true };
  return repeatedly(caller, again, async (isUnsure) => {
    if (!isUnsure || incarnation !== undefined) return callJson<T>(once, again);
    const found = await incarnationOf(once, path, call.signal);
    if (found === undefined && Date.now() >= forgottenMs)
      throw new StdioError("lost", "The answer got lost, and the session is not there: its command may have run");
    // Of one that is to be replaced, the attempt tells what has been started.
    const isTold = found === undefined || (ended === "replace" && attempt !== undefined);
    return callJson<T>(once, isTold ? again : { ...again, body: { ...call.body, incarnation: found } });
  });
}

async function incarnationOf(once: Caller, path: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    const call = { method: "GET", path, isRepeatable: false, signal } as const;
    return (await callJson<Description>(once, call)).incarnation;
  } catch (error) {
    if (error instanceof StdioError && error.status === HTTP_NOT_FOUND) return undefined;
    throw error;
  }
}
