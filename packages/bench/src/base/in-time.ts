// A limit for what may hang.

import { setTimeout as pause } from "node:timers/promises";

/** @throws {Error} If it does not end before, or what it throws. */
export async function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const ended = new AbortController();
  const limit = pause(limitMs, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`it did not end in ${limitMs / 1000} s`);
  });
  limit.catch(() => undefined); // It is ended where the work was in time.
  work.catch(() => undefined); // Where it was not, what it says later is of no use.
  try {
    return await Promise.race([work, limit]);
  } finally {
    ended.abort();
  }
}
