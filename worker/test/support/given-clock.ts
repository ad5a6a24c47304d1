// A clock that a test puts forward, for the objects and for the test itself: a timer that has come due meanwhile fires a moment
// later, in the context that set it. Otherwise the clock runs as the real one does.

import { afterAll, beforeAll } from "vitest";

/** How often a timer looks at the clock, in real milliseconds. */
const LOOK_MS = 5;

class GivenClock {
  readonly #running = new Map<unknown, number>();
  /** For how many milliseconds each timer was set, in order, fired or not. */
  readonly everSet: number[] = [];
  #aheadMs = 0;
  readonly #real = { now: Date.now, setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

  /** For how many milliseconds each timer was set that has not fired yet, of all objects of this isolate. */
  get timers(): number[] {
    return [...this.#running.values()];
  }

  putForward(ms: number): void {
    this.#aheadMs += ms;
  }

  install(): void {
    const { now, setTimeout: _, clearTimeout: stop } = this.#real;
    const running = this.#running;
    Date.now = () => now() + this.#aheadMs;
    const set = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      const dueMs = Date.now() + ms;
      // An interval: what it is known by stays the same however often it looks, and it keeps its object in memory.
      const timer = setInterval(
        () => {
          if (Date.now() < dueMs) return;
          clearInterval(timer);
          running.delete(timer);
          callback(...args);
        },
        Math.min(ms, LOOK_MS),
      );
      running.set(timer, ms);
      this.everSet.push(ms);
      return timer;
    };
    globalThis.setTimeout = set as unknown as typeof globalThis.setTimeout;
    globalThis.clearTimeout = ((timer) => {
      running.delete(timer);
      stop(timer as never);
    }) as typeof globalThis.clearTimeout;
  }

  uninstall(): void {
    const { now, setTimeout, clearTimeout } = this.#real;
    Object.assign(globalThis, { setTimeout, clearTimeout });
    Date.now = now;
  }
}

export type Clock = Pick<GivenClock, "putForward" | "timers" | "everSet">;

/** To be called at the top of a test file: all of its tests share the clock. */
export function giveClock(): Clock {
  const clock = new GivenClock();
  beforeAll(() => clock.install());
  afterAll(() => clock.uninstall());
  return clock;
}
