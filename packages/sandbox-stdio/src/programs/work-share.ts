// Shares the work of searching among the waits of one session (T4): a turn in which all of them search costs little more than a
// turn of one. Knows nothing of output or expressions.

/** Instructions run at a time for all waits of a session: some milliseconds. */
const WAIT_WORK = 100_000;
/** A wait always gets at least this many. */
const MIN_WORK = 500;
/** Remaining work continues after this pause, in which its owner serves others. */
export const WORK_PAUSE_MS = 8;

export class WorkShare {
  readonly #nowMs: () => number;
  readonly #searching: () => number;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #spent = 0;

  /**
   * @param nowMs Returns the time, which may stand still within a turn.
   * @param searching Returns how many waits have not reached the end of the output.
   */
  constructor(nowMs: () => number, searching: () => number) {
    this.#nowMs = nowMs;
    this.#searching = searching;
  }

  /** How much work a wait may do now. */
  grant(): number {
    const nowMs = this.#nowMs();
    if (nowMs >= this.#sinceMs + WORK_PAUSE_MS || nowMs < this.#sinceMs) {
      this.#sinceMs = nowMs;
      this.#spent = 0;
    }
    const fair = WAIT_WORK / Math.max(1, this.#searching());
    return Math.max(MIN_WORK, Math.min(fair, WAIT_WORK - this.#spent));
  }

  /** A wait has done this much work. */
  spend(work: number): void {
    this.#spent += work;
  }
}
