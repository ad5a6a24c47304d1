// The calls of each caller within the last minute. Exact, like attempts, and made for hundreds a minute: costs no copy a call.

const MINUTE_MS = 60_000;

export class CallCounter {
  /** When each caller's calls of the last minute were, oldest first. Those who have been quiet for a minute are forgotten. */
  readonly #callers = new Map<string, number[]>();
  #sweptAtMs = 0;

  /** Counts a call. @returns After how many seconds there is room for it, where there is none now: then it is not counted. */
  count(caller: string, nowMs: number, perMinute: number): number | undefined {
    this.#sweep(nowMs);
    let times = this.#callers.get(caller);
    if (times === undefined) {
      times = [];
      this.#callers.set(caller, times);
    }
    const firstCounted = times.findIndex((time) => time > nowMs - MINUTE_MS);
    times.splice(0, firstCounted === -1 ? times.length : firstCounted);
    const oldest = times[times.length - perMinute];
    if (oldest !== undefined) return Math.ceil((oldest + MINUTE_MS - nowMs) / 1000);
    times.push(nowMs);
    return undefined;
  }

  /** How many callers are remembered. */
  get size(): number {
    return this.#callers.size;
  }

  #sweep(nowMs: number): void {
    if (nowMs < this.#sweptAtMs + MINUTE_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [caller, times] of this.#callers) {
      if ((times.at(-1) ?? 0) <= nowMs - MINUTE_MS) this.#callers.delete(caller);
    }
  }
}
