// Plays the events of a recording in their own time, slower or faster, with a position that people can read. Knows neither where
// they come from nor how they are drawn.

import type { CastEvent, CastInfo } from "sandbox-stdio/recording";

export type PlaybackPorts = {
  /** Everything so far is replaced: a screen of this size. */
  reset(info: CastInfo): void;
  /** @returns A promise if more would be too much just now. */
  show(event: CastEvent): void | Promise<void>;
  changed(state: PlaybackState): void;
};

export type PlaybackState = {
  /** As Date.now() gave it when what is shown was printed. */
  readonly atMs: number;
  readonly isPlaying: boolean;
  readonly speed: number;
  readonly skipsIdle: boolean;
};

export type Source = (signal: AbortSignal) => AsyncIterable<readonly [CastInfo, readonly CastEvent[]]>;

export const PAUSED: PlaybackState = { atMs: 0, isPlaying: false, speed: 1, skipsIdle: false };
/** With `skipsIdle` no pause is longer. */
const IDLE_MS = 1_000;
/** Shorter pauses are gathered: a timer is not more exact. */
const SHORTEST_MS = 4;
/** How often a long pause tells its position. */
const TELL_MS = 250;

export class Playback {
  readonly #ports: PlaybackPorts;
  #run = new AbortController();
  #state = PAUSED;
  /** Ends the wait that is under way. */
  #wake: () => void = () => undefined;

  constructor(ports: PlaybackPorts) {
    this.#ports = ports;
  }

  get state(): PlaybackState {
    return this.#state;
  }

  set(change: Partial<PlaybackState>): void {
    this.#state = { ...this.#state, ...change };
    this.#wake();
    this.#ports.changed(this.#state);
  }

  /**
   * Goes on elsewhere: shows the screen there, then waits until it plays.
   * @returns Resolves at the recording's end, and if another start or {@link stop} ends it. @throws As the source does.
   */
  async start(source: Source, atMs: number): Promise<void> {
    this.stop();
    this.#run = new AbortController();
    const { signal } = this.#run;
    this.set({ atMs });
    let debtMs = 0;
    let isBegun = false;
    try {
      for await (const [info, events] of source(signal)) {
        if (signal.aborted) return;
        if (!isBegun) this.#ports.reset(info);
        isBegun = true;
        for (const event of events) {
          debtMs += event.afterMs;
          const { isPlaying, speed } = this.#state;
          if (debtMs >= SHORTEST_MS * speed || (debtMs > 0 && !isPlaying)) {
            await this.#pass(debtMs, signal);
            debtMs = 0;
          }
          if (signal.aborted) return;
          await this.#ports.show(event);
        }
        // A link to what is shown names the millisecond in which it came.
        this.set({ atMs: Math.round(this.#state.atMs + debtMs) });
        debtMs = 0;
      }
      this.set({ isPlaying: false });
    } catch (error) {
      if (signal.aborted) return;
      this.set({ isPlaying: false });
      throw error;
    }
  }

  stop(): void {
    this.#run.abort();
    this.#wake();
  }

  /** Lets so much of the recording's time pass. */
  async #pass(ms: number, signal: AbortSignal): Promise<void> {
    for (let left = ms; left > 0 && !signal.aborted; ) {
      const { isPlaying, speed, skipsIdle, atMs } = this.#state;
      const skippedMs = skipsIdle && isPlaying ? Math.max(0, left - IDLE_MS) : 0;
      if (skippedMs > 0) this.set({ atMs: atMs + skippedMs });
      left -= skippedMs;
      const sinceMs = performance.now();
      await this.#wait(isPlaying ? Math.min(left / speed, TELL_MS) : undefined);
      const passedMs = isPlaying ? Math.min(left, (performance.now() - sinceMs) * speed) : 0;
      if (passedMs > 0 && !signal.aborted) this.set({ atMs: this.#state.atMs + passedMs });
      left -= passedMs;
    }
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
