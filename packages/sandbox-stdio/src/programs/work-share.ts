// The work of searching that the waits of one session share (T4). A turn in which all of them look costs little more than one
// in which one does, whatever they look for. Knows nothing of output or expressions.

/** Instructions of expressions that are carried out at a time, for all waits of a session: some milliseconds. */
export const WAIT_WORK = 100_000;
/** A wait gets so many of them at least. */
const LEAST_WORK = 500;
/** Work that is left goes on after so long: until then its owner serves others. */
export const WORK_PAUSE_MS = 8;

export class WorkShare {
  readonly #nowMs: () => number;
  readonly #searching: () => number;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #spent = 0;

  /**
   * @param nowMs The time, which may stand still within a turn.
   * @param searching How many waits have not come to the end of the output.
   */
  constructor(nowMs: () => number, searching: () => number) {
    this.#nowMs = nowMs;
    this.#searching = searching;
  }

  /** How much a wait may do now. */
  grant(): number {
    const nowMs = this.#nowMs();
    if (nowMs >= this.#sinceMs + WORK_PAUSE_MS || nowMs < this.#sinceMs) {
      this.#sinceMs = nowMs;
      this.#spent = 0;
    }
    const fair = WAIT_WORK / Math.max(1, this.#searching());
    return Math.max(LEAST_WORK, Math.min(fair, WAIT_WORK - this.#spent));
  }

  /** A wait has done so much. */
  spend(work: number): void {
    this.#spent += work;
  }
}
