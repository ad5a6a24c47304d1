// Plays the events of a recording in their own time, slower or faster, with a position that people can read. Knows neither where
// they come from nor how they are drawn.

import type { CastEvent, CastInfo } from "sandbox-stdio/recording";

export type PlaybackPorts = {
  /** Everything so far is replaced: a screen of this size. */
  reset(info: CastInfo): void;
  /** @returns A promise if more would be too much just now. */
  show(event: CastEvent): void | Promise<void>;
  /** Position, or whether it plays, has changed. */
  changed(): void;
};

export type Source = (signal: AbortSignal) => AsyncIterable<readonly [CastInfo, readonly CastEvent[]]>;

/** With `skipsIdle` no pause is longer. */
const IDLE_MS = 1_000;
/** Shorter pauses are gathered: a timer is not more exact. */
const SHORTEST_MS = 4;
/** How often a long pause tells its position. */
const TELL_MS = 250;

export class Playback {
  readonly #ports: PlaybackPorts;
  #run = new AbortController();
  #atMs = 0;
  #isPlaying = false;
  #speed = 1;
  #skipsIdle = false;
  /** Ends the wait that is under way. */
  #wake: () => void = () => undefined;

  constructor(ports: PlaybackPorts) {
    this.#ports = ports;
  }

  /** As Date.now() gave it when what is shown was printed. */
  get atMs(): number {
    return this.#atMs;
  }

  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  get speed(): number {
    return this.#speed;
  }

  set speed(speed: number) {
    this.#speed = speed;
    this.#turn();
  }

  get skipsIdle(): boolean {
    return this.#skipsIdle;
  }

  set skipsIdle(skips: boolean) {
    this.#skipsIdle = skips;
    this.#turn();
  }

  set isPlaying(isPlaying: boolean) {
    this.#isPlaying = isPlaying;
    this.#turn();
  }

  /**
   * Goes on elsewhere: shows the screen there, then waits until it plays.
   * @returns Resolves at the recording's end, and if another start or {@link stop} ends it. @throws As the source does.
   */
  async start(source: Source, atMs: number): Promise<void> {
    this.stop();
    const run = new AbortController();
    this.#run = run;
    this.#atMs = atMs;
    this.#ports.changed();
    let debtMs = 0;
    let isBegun = false;
    try {
      for await (const [info, events] of source(run.signal)) {
        if (run.signal.aborted) return;
        if (!isBegun) this.#ports.reset(info);
        isBegun = true;
        for (const event of events) {
          debtMs += event.afterMs;
          if (debtMs >= SHORTEST_MS * this.#speed || (debtMs > 0 && !this.#isPlaying)) {
            await this.#pass(debtMs, run.signal);
            debtMs = 0;
          }
          if (run.signal.aborted) return;
          await this.#ports.show(event);
        }
      }
      this.isPlaying = false;
    } catch (error) {
      if (run.signal.aborted) return;
      this.isPlaying = false;
      throw error;
    }
  }

  stop(): void {
    this.#run.abort();
    this.#wake();
  }

  #turn(): void {
    this.#wake();
    this.#ports.changed();
  }

  /** Lets so much of the recording's time pass. */
  async #pass(ms: number, signal: AbortSignal): Promise<void> {
    let left = ms;
    while (left > 0 && !signal.aborted) {
      if (this.#skipsIdle && this.#isPlaying && left > IDLE_MS) left -= this.#jump(left - IDLE_MS);
      const sinceMs = performance.now();
      const isTimed = this.#isPlaying;
      await this.#wait(isTimed ? Math.min(left / this.#speed, TELL_MS) : undefined);
      if (isTimed) left -= this.#jump(Math.min(left, (performance.now() - sinceMs) * this.#speed));
    }
  }

  #jump(ms: number): number {
    this.#atMs += ms;
    this.#ports.changed();
    return ms;
  }

  /** @param ms undefined: until something changes. */
  #wait(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
