// Limits how much a process may write without a reader (W14): a rate and a burst. The caller passes the time; knows no process.

/** Burst, in seconds of the rate: the end of a build does not wait. */
const BURST_SECONDS = 16;
/** Shortest hold once the budget is spent: stopping and starting a process costs more than its output. */
const PAUSE_MS = 100;

export class UnattendedBudget {
  readonly #bytesPerSecond: number;
  #bytes: number;
  #atMs: number;
  /** Output before this offset has been charged. */
  #offset: number;
  #pausedUntilMs: number | undefined;

  /** @param bytesPerSecond Infinity for no limit. */
  constructor(bytesPerSecond: number, offset: number, nowMs: number) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#bytes = bytesPerSecond * BURST_SECONDS;
    this.#offset = offset;
    this.#atMs = nowMs;
  }

  /** The process has a reader: output until now is free, and the process continues. */
  attended(offset: number): void {
    this.#offset = offset;
    this.#pausedUntilMs = undefined;
  }

  /** Whether to hold the process, with its output at `offset` and no reader. */
  isSpent(offset: number, nowMs: number): boolean {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return false;
    const most = this.#bytesPerSecond * BURST_SECONDS;
    this.#bytes = Math.min(most, this.#bytes + ((nowMs - this.#atMs) / 1000) * this.#bytesPerSecond);
    this.#bytes -= offset - this.#offset;
    this.#atMs = nowMs;
    this.#offset = offset;
    if (this.#pausedUntilMs !== undefined && nowMs < this.#pausedUntilMs) return true;
    this.#pausedUntilMs = this.#bytes >= 0 ? undefined : nowMs + Math.max(PAUSE_MS, this.#msUntilZero);
    return this.#pausedUntilMs !== undefined;
  }

  /** When to check again; undefined unless the budget holds the process. */
  get nextMs(): number | undefined {
    return this.#pausedUntilMs;
  }

  get #msUntilZero(): number {
    return (-this.#bytes / this.#bytesPerSecond) * 1000;
  }
}
