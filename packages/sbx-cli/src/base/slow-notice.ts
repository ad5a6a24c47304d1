// Notices about slow waits: after two seconds, and again when the wait lasts four times as long or its cause changes. Pure except
// for `withSlowNotice`, which sets a timer.

import { processClock } from "./clock.ts";

/** How long a person waits without a notice. */
export const SLOW_MS = 2_000;
/** Minimum delay of a notice, even if the program was slow to start. */
const LEAST_MS = 500;
const LONGER = 4;

export const formatSeconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

/** When the next notice about a wait is due. */
export class NoticeSchedule {
  readonly #sinceMs: number;
  #lastCause: string | undefined;
  #againAtMs = 0;

  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  firstInMs(nowMs: number): number {
    return Math.max(LEAST_MS, this.#sinceMs + SLOW_MS - nowMs);
  }

  /** Whether a notice with this cause is due. If so, it counts as shown. */
  isDue(cause: string, nowMs: number): boolean {
    if (cause === this.#lastCause && nowMs < this.#againAtMs) return false;
    this.shown(cause, nowMs);
    return true;
  }

  shown(cause: string, nowMs: number): void {
    this.#lastCause = cause;
    this.#againAtMs = this.#sinceMs + Math.max(SLOW_MS, nowMs - this.#sinceMs) * LONGER;
  }
}

/** Waits for the work, and reports what it waits for after two seconds. */
export async function withSlowNotice<T>(text: string, work: Promise<T>, say: (line: string) => void): Promise<T> {
  const sinceMs = processClock.now();
  const next = new NoticeSchedule(sinceMs);
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    const nowMs = processClock.now();
    if (next.isDue(text, nowMs)) say(`${text} (${formatSeconds(nowMs - sinceMs)} so far)`);
    timer = setTimeout(report, SLOW_MS);
  };
  timer = setTimeout(report, SLOW_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
