// Repeats a start by name without starting a second process, even after a long sleep: the repetition names the incarnation, or
// is sent only while an ended process would still be listed.

import { StdioError } from "../connect/error.ts";
import { type Call, type Caller, callJson, withRetries } from "./call.ts";
import type { Description, ProcessFields } from "./program-types.ts";

/** The server's default. */
const DEFAULT_KEEP_EXITED_SECONDS = 600;
const HTTP_NOT_FOUND = 404;

/**
 * @param path The session's path.
 * @throws {StdioError} `lost`: the answer was lost, and a process that ended since may have been forgotten.
 */
export async function startOnce<T>(
  caller: Caller,
  path: string,
  call: Omit<Call, "isRepeatable" | "body"> & { readonly body: ProcessFields },
): Promise<T> {
  const { keepExitedSeconds = DEFAULT_KEEP_EXITED_SECONDS, incarnation, attempt, ended } = call.body;
  // Use the wall clock, which also advances while the machine sleeps.
  const forgottenMs = Date.now() + keepExitedSeconds * 1_000;
  const once = { ...caller, retries: 0 };
  const again = { ...call, isRepeatable: true };
  return withRetries(caller, again, async (isUnsure) => {
    if (!isUnsure || incarnation !== undefined) return callJson<T>(once, again);
    const found = await incarnationOf(once, path, call.signal);
    if (found === undefined && Date.now() >= forgottenMs)
      throw new StdioError("lost", "The response was lost, and the session is gone: its command may have run");
    // With `ended: "replace"`, the attempt identifies the start.
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
