// Limits how much a process may write without a reader (W14): a rate and a burst. The caller passes the time; knows no process.

import { TokenBucket } from "../output/token-bucket.ts";

/** Burst, in seconds of the rate: the end of a build does not wait. */
const BURST_SECONDS = 16;
/** Shortest hold once the budget is spent: stopping and starting a process costs more than its output. */
const PAUSE_MS = 100;

export class UnattendedBudget {
  readonly #bytesPerSecond: number;
  readonly #bytes: TokenBucket;
  /** Output before this offset has been charged. */
  #offset: number;
  #pausedUntilMs: number | undefined;

  /** @param bytesPerSecond Infinity for no limit. */
  constructor(bytesPerSecond: number, offset: number, nowMs: number) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#bytes = new TokenBucket(bytesPerSecond, bytesPerSecond * BURST_SECONDS, nowMs);
    this.#offset = offset;
  }

  /** The process has a reader: output until now is free, and the process continues. */
  attended(offset: number): void {
    this.#offset = offset;
    this.#pausedUntilMs = undefined;
  }

  /** Whether to hold the process, with its output at `offset` and no reader. */
  isSpent(offset: number, nowMs: number): boolean {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return false;
    this.#bytes.take(offset - this.#offset, nowMs);
    this.#offset = offset;
    if (this.#pausedUntilMs !== undefined && nowMs < this.#pausedUntilMs) return true;
    const missing = -this.#bytes.left(nowMs);
    const untilZeroMs = (missing / this.#bytesPerSecond) * 1000;
    this.#pausedUntilMs = missing <= 0 ? undefined : nowMs + Math.max(PAUSE_MS, untilZeroMs);
    return this.#pausedUntilMs !== undefined;
  }

  /** When to check again; undefined unless the budget holds the process. */
  get nextMs(): number | undefined {
    return this.#pausedUntilMs;
  }
}
