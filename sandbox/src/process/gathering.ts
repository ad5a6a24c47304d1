// Decides whether output goes out as soon as the kernel has no more, or is gathered for a moment, as while a program floods without
// input. Knows neither the bytes nor where they go.

/** Bytes without a pause after which output counts as a flood. */
const FLOOD_BYTES = 16 * 1024;
/** A pause this long ends a flood. */
const LULL_MS = 2;
/** Output waits at most twice this long, and only until it fills a frame. */
export const GATHER_MS = 1;
/** How long after input its echo, or the output that follows a ^C, is expected. */
export const TYPED_MS = 100;

export interface GatheringClock {
  now(): number;
  /** @returns Cancels it. */
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
  /** All waiting output was read after the timer was set. */
  #isYoung = false;

  /** @param flush Sends the waiting output. */
  constructor(flush: () => void, clock = CLOCK) {
    this.#flush = flush;
    this.#clock = clock;
  }

  /** The program was given input or a signal: its next output may be the answer. */
  typed(): void {
    this.#typedAtMs = this.#clock.now();
  }

  read(bytes: number, nowMs: number): void {
    if (nowMs - this.#lastReadMs > LULL_MS) this.#runBytes = 0;
    this.#lastReadMs = nowMs;
    this.#runBytes += bytes;
  }

  /** The kernel has no more for now. @returns Whether the output should wait: `flush` is called in time. */
  keeps(): boolean {
    if (this.#runBytes < FLOOD_BYTES || this.#lastReadMs - this.#typedAtMs < TYPED_MS) return false;
    if (this.#cancel === undefined) this.#arm();
    return true;
  }

  /** The waiting output has gone out. */
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
