// Waiting until a server that was just started really answers. Knows HTTP and children, not which servers there are.
import { setTimeout } from "node:timers/promises";
import { ask, type Wish } from "../base/ask.ts";
import { type Child, describeExit } from "./children.ts";

const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 500;
const ONE_REQUEST_MS = 5000;

/** A server did not come up; the message names it and ends with the last lines of its log. */
export class NotReadyError extends Error {
  override readonly name = "NotReadyError";
}

/**
 * Waits until `url` answers 200.
 *
 * @param timeoutMs How long it may take in all. @param options Headers that only this server knows, or its socket: another one may have its port.
 * @throws {NotReadyError} If the child ends, or the time does.
 */
export async function waitUntilReady(
  child: Child,
  url: string,
  timeoutMs: number,
  options: Pick<Wish, "headers" | "socketPath"> = {},
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let lastAnswer = "no answer";
  let wrong: string | undefined;
  for (let delay = FIRST_DELAY_MS; Date.now() < deadline; delay = Math.min(delay * 2, LONGEST_DELAY_MS)) {
    const ended = await Promise.race([setTimeout(delay, undefined), child.exited]);
    if (ended !== undefined) fail(child, `ended before it was ready (${describeExit(ended)})`);
    try {
      const { status, text } = await ask(url, { ...options, signal: AbortSignal.timeout(ONE_REQUEST_MS) });
      if (status === 200) return;
      lastAnswer = `status ${status}`;
      const { error, message } = JSON.parse(text) as { error?: string; message?: string };
      // No wait mends a setting.
      if (error === "misconfigured") wrong = message;
    } catch (error) {
      // Not listening yet, too slow, or no JSON: all are answers.
      lastAnswer = error instanceof Error ? error.message : String(error);
    }
    if (wrong !== undefined) throw new NotReadyError(wrong);
  }
  fail(child, `was not ready after ${timeoutMs / 1000} s (${url}: ${lastAnswer})`);
}

function fail(child: Child, what: string): never {
  throw new NotReadyError(`The ${child.name} ${what}. Its log, ${child.logFile}, ends:\n${child.lastLines(20)}`);
}
