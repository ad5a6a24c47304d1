// Waiting at a session without looking again and again: something is tried whenever the session has changed, and at its times.

import type { Reached } from "./reached.ts";

/**
 * Tries until it answers true, the time is over, the caller has gone, or the session is held here no more.
 * @param nextMs When the next try is due although nothing has changed; absent: never.
 */
export function until(
  reached: Reached,
  deadlineMs: number,
  signal: AbortSignal,
  isDone: () => boolean,
  nextMs: () => number | undefined = () => undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let timerAtMs = Number.POSITIVE_INFINITY;
    const end = () => {
      if (timer !== undefined) clearTimeout(timer);
      unwatch();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const look = () => {
      try {
        if (isDone() || reached.isStale || Date.now() >= deadlineMs || signal.aborted) end();
        else schedule();
      } catch (error) {
        end();
        reject(error);
      }
    };
    const schedule = () => {
      const atMs = Math.min(deadlineMs, nextMs() ?? Number.POSITIVE_INFINITY);
      if (timer !== undefined && timerAtMs === atMs) return;
      if (timer !== undefined) clearTimeout(timer);
      timerAtMs = atMs;
      timer = undefined;
      if (atMs === Number.POSITIVE_INFINITY) return;
      timer = setTimeout(
        () => {
          timer = undefined;
          look();
        },
        Math.max(0, atMs - Date.now()),
      );
    };
    const unwatch = reached.watch(look);
    signal.addEventListener("abort", end);
    look();
  });
}
