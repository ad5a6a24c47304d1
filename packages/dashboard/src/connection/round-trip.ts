// How long a key takes to the process and back, by what the process prints next. Told of keys, output and acknowledgements. Pure.
// An acknowledgement times nothing: it comes when the key is in the record, which gathers what is typed.

/** Each new time counts so much: one that stands out is not believed alone. */
const NEW_WEIGHT = 0.3;
/** If there was output so shortly before a key, the next output may be no answer to it. */
const QUIET_MS = 150;

export class RoundTrip {
  #ms: number | undefined;
  #askedAtMs: number | undefined;
  #outputAtMs = Number.NEGATIVE_INFINITY;
  /** Keys that were sent since the last answer to all of them. */
  #waiting = 0;

  /** In milliseconds; undefined before a key could be timed. */
  get ms(): number | undefined {
    return this.#ms;
  }

  /** A key was sent. Only one that goes alone, while nothing is printed, is timed. */
  sent(nowMs: number): void {
    this.#waiting += 1;
    const isAlone = this.#waiting === 1 && nowMs - this.#outputAtMs >= QUIET_MS;
    this.#askedAtMs = isAlone ? nowMs : undefined;
  }

  /** The process has printed something. @returns Whether there is a new time. */
  printed(nowMs: number): boolean {
    this.#outputAtMs = nowMs;
    const askedAtMs = this.#askedAtMs;
    this.#askedAtMs = undefined;
    // Of several keys it may answer the first.
    if (this.#waiting === 1) this.#waiting = 0;
    if (askedAtMs === undefined) return false;
    const ms = nowMs - askedAtMs;
    this.#ms = this.#ms === undefined ? ms : this.#ms + (ms - this.#ms) * NEW_WEIGHT;
    return true;
  }

  /** Input was acknowledged; so much is still on its way. What was silent until then was no echo. */
  taken(unackedBytes: number): void {
    if (unackedBytes > 0) return;
    this.#waiting = 0;
    this.#askedAtMs = undefined;
  }

  /** The connection broke: keys that were on their way are timed no more. */
  broken(): void {
    this.#waiting = 0;
    this.#askedAtMs = undefined;
  }
}
