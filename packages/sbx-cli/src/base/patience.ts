// Waiting is spoken of: after two seconds, and again when it has lasted four times as long or waits for something else. Pure, but
// for `patiently`, which sets a timer.

import { processClock } from "./clock.ts";

/** A person waits no longer without a word. */
export const PATIENCE_MS = 2_000;
/** An answer that is about to come is not spoken of, also where the program itself was slow to start. */
const LEAST_MS = 500;
const LONGER = 4;

export const spanWords = (ms: number): string => `${Math.round(ms / 1_000)} s`;

/** When a wait is to be spoken of next. */
export class NextWord {
  readonly #sinceMs: number;
  #told: string | undefined;
  #againAtMs = 0;

  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  firstInMs(nowMs: number): number {
    return Math.max(LEAST_MS, this.#sinceMs + PATIENCE_MS - nowMs);
  }

  /** Whether to say this cause now; the answer yes counts as said. */
  isDue(cause: string, nowMs: number): boolean {
    if (cause === this.#told && nowMs < this.#againAtMs) return false;
    this.said(cause, nowMs);
    return true;
  }

  said(cause: string, nowMs: number): void {
    this.#told = cause;
    this.#againAtMs = this.#sinceMs + Math.max(PATIENCE_MS, nowMs - this.#sinceMs) * LONGER;
  }
}

/** Waits for the work, and says after two seconds what is waited for, and how long so far. */
export async function patiently<T>(words: string, work: Promise<T>, say: (line: string) => void): Promise<T> {
  const sinceMs = processClock.now();
  const next = new NextWord(sinceMs);
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    const nowMs = processClock.now();
    if (next.isDue(words, nowMs)) say(`${words} (${spanWords(nowMs - sinceMs)} so far)`);
    timer = setTimeout(tell, PATIENCE_MS);
  };
  timer = setTimeout(tell, PATIENCE_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
