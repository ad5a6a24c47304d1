// Counts each caller's calls within the last minute, exactly. Efficient for hundreds a minute: copies nothing per call.

const MINUTE_MS = 60_000;

export class CallCounter {
  /** Times of each caller's calls in the last minute, oldest first. Callers without any are forgotten. */
  readonly #callers = new Map<string, number[]>();
  #sweptAtMs = 0;

  /** Counts a call. @returns undefined, or seconds until the caller may call again: then the call was not counted. */
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
