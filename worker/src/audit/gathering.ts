// Decides when gathered events are stored: once they are due, between two keys, and never later than they may be.

/** Events wait this long for more, and input is quiet after it: longer than an echo takes. */
export const GATHER_MS = 10;

export class Gathering {
  readonly #store: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  /** As Date.now(): when input last came, and when the waiting events are due, and at the latest. */
  #inputAtMs = 0;
  #dueMs = Number.POSITIVE_INFINITY;
  #latestMs = Number.POSITIVE_INFINITY;

  /** @param store Stores the waiting events, and calls {@link clear}; or can't yet. */
  constructor(store: () => void) {
    this.#store = store;
  }

  /** Whether what waits can't wait any longer. */
  get isLate(): boolean {
    return this.#latestMs <= Date.now();
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Something waits. @param gatherMs How long, for more. @param withinMs At the latest, while input comes. */
  wait(gatherMs: number, withinMs = gatherMs): void {
    const nowMs = Date.now();
    this.#dueMs = Math.min(this.#dueMs, nowMs + gatherMs);
    this.#latestMs = Math.min(this.#latestMs, nowMs + withinMs);
    this.#lookAt(this.#dueMs, nowMs);
  }

  /** Input has come: an echo is on its way, and nothing else is done while a batch is being stored. */
  heard(): void {
    this.#inputAtMs = Date.now();
  }

  /** Output has come, the echo of the last input perhaps: what is due is stored right behind it, before the next key. */
  answered(): void {
    const nowMs = Date.now();
    if (this.#timer === undefined || this.#dueMs > nowMs) return;
    this.#inputAtMs = 0;
    this.#lookAt(nowMs, nowMs);
  }

  /** The remaining events wait from now on: not for their own time alone, so that little is stored right after something else. */
  again(): void {
    const nowMs = Date.now();
    this.#lookAt(Math.max(this.#dueMs, nowMs + GATHER_MS), nowMs);
  }

  /** Nothing waits any more. */
  clear(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#latestMs = Number.POSITIVE_INFINITY;
  }

  #lookAt(atMs: number, nowMs: number): void {
    if (atMs >= this.#timerAtMs) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, atMs - nowMs));
  }

  #look(): void {
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = Date.now();
    const atMs = Math.min(Math.max(this.#dueMs, this.#inputAtMs + GATHER_MS), this.#latestMs);
    // More than that it can be only where the clock was set back.
    if (atMs > nowMs && atMs <= nowMs + GATHER_MS) this.#lookAt(atMs, nowMs);
    else this.#store();
  }
}
