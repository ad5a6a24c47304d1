// Waiting for what can't be listened to: asked again and again, with a limit that says what was waited for.
import { setTimeout as delay } from "node:timers/promises";

const INTERVAL_MS = 20;
/** Long: the machine may be busy. Nothing waits this long unless it fails. */
export const LIMIT_MS = 20_000;

/** The first answer of `ask` that is neither undefined nor false. @throws {Error} After the limit, naming `what`. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what}`);
    await delay(INTERVAL_MS);
  }
}

/** `promise`, or an error naming `what` after the limit. */
export async function within<T>(what: string, promise: Promise<T>, limitMs = LIMIT_MS): Promise<T> {
  const controller = new AbortController();
  const late = delay(limitMs, undefined, { signal: controller.signal }).then(() => {
    throw new Error(`Waited ${limitMs} ms for ${what}`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    controller.abort();
    late.catch(() => undefined);
  }
}
