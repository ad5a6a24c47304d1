// Whether output that was read goes out as soon as the kernel has no more, or is gathered for a moment: so it is while a program
// floods and nobody types. Knows neither the bytes nor where they go.

/** So much without a lull is a flood. */
const FLOOD_BYTES = 16 * 1024;
/** A program that was silent for so long has ended its flood. */
const LULL_MS = 2;
/** Output waits for at most twice this, and only if it does not fill a frame before. */
export const GATHER_MS = 1;
/** So long after input its echo may come, or what a ^C has a program print. */
export const TYPED_MS = 100;

export interface GatheringClock {
  now(): number;
  /** @returns Takes it back. */
  wakeIn(ms: number, wake: () => void): () => void;
}

const CLOCK: GatheringClock = {
  now: () => performance.now(),
  wakeIn: (ms, wake) => {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

export class Gathering {
  readonly #flush: () => void;
  readonly #clock: GatheringClock;
  /** Read since the last lull. */
  #runBytes = 0;
  #lastReadMs = 0;
  #typedAtMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  /** What waits has been read since the timer was set. */
  #isYoung = false;

  /** @param flush Has what waits go out. */
  constructor(flush: () => void, clock = CLOCK) {
    this.#flush = flush;
    this.#clock = clock;
  }

  /** The program was given input, or a signal: output may be the answer. */
  typed(): void {
    this.#typedAtMs = this.#clock.now();
  }

  read(bytes: number, nowMs: number): void {
    if (nowMs - this.#lastReadMs > LULL_MS) this.#runBytes = 0;
    this.#lastReadMs = nowMs;
    this.#runBytes += bytes;
  }

  /** The kernel has no more for now. @returns Whether what was read waits: `flush` is called in time. */
  keeps(): boolean {
    if (this.#runBytes < FLOOD_BYTES || this.#lastReadMs - this.#typedAtMs < TYPED_MS) return false;
    if (this.#cancel === undefined) this.#arm();
    return true;
  }

  /** What waited has gone out. */
  flushed(): void {
    this.#isYoung = true;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    this.#isYoung = false;
    this.#cancel = this.#clock.wakeIn(GATHER_MS, () => {
      this.#cancel = undefined;
      if (this.#isYoung) this.#arm();
      else this.#flush();
    });
  }
}
