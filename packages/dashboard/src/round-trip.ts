// How long a key takes to the process and back, and how much output is still to be drawn. Told of sent and taken bytes. Pure.

/** Each new time counts so much: one that stands out is not believed alone. */
const NEW_WEIGHT = 0.3;

export class RoundTrip {
  #ms: number | undefined;
  #askedAtMs: number | undefined;
  #isOutstanding = false;

  /** In milliseconds; undefined before anything was typed. */
  get ms(): number | undefined {
    return this.#ms;
  }

  /** A key was sent. Only one that goes alone is timed: others may be waiting behind an earlier one. */
  sent(nowMs: number): void {
    this.#askedAtMs = this.#isOutstanding ? undefined : nowMs;
    this.#isOutstanding = true;
  }

  /** The process has taken input; so much is still on its way. @returns Whether there is a new time. */
  taken(unackedBytes: number, nowMs: number): boolean {
    if (unackedBytes > 0) return false;
    const askedAtMs = this.#askedAtMs;
    this.#askedAtMs = undefined;
    this.#isOutstanding = false;
    if (askedAtMs === undefined) return false;
    const ms = nowMs - askedAtMs;
    this.#ms = this.#ms === undefined ? ms : this.#ms + (ms - this.#ms) * NEW_WEIGHT;
    return true;
  }

  /** The connection broke: keys that were on their way are timed no more. */
  broken(): void {
    this.#askedAtMs = undefined;
    this.#isOutstanding = false;
  }
}
