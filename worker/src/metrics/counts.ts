// The counters, in the memory of the part that sees the event: plain numbers under fixed names. No label holds a name, an address
// or any text from outside. Knows nothing of where counts are sent.

/** Counters, by the event that each counts. */
export type Counter =
  | "attaches"
  | "resumes"
  | "gaps"
  | "gap_bytes"
  | "received_bytes"
  | "sent_bytes"
  | "session.started"
  | "session.exited"
  | "session.lost"
  | "container.started"
  | "container.failed"
  | "container.slept"
  | "container.hung";

/** Upper bounds of each histogram's buckets, in milliseconds. */
export const HISTOGRAMS = {
  ack: [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000],
  cold_start: [500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 60_000],
} as const satisfies Record<string, readonly number[]>;

export type Histogram = keyof typeof HISTOGRAMS;

/**
 * Counts by series: a {@link Counter}; `refused CODE`; of a histogram `NAME le BOUND` (in that bucket alone), `NAME count` and
 * `NAME ms`.
 */
export type Sums = Readonly<Record<string, number>>;

export class Counts {
  #sums = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#sums.size === 0;
  }

  add(counter: Counter, count = 1): void {
    this.#add(counter, count);
  }

  /** @param code Of the close, or what stands for an HTTP status there: 4000 and the status. */
  refused(code: number): void {
    this.#add(`refused ${code}`, 1);
  }

  observe(histogram: Histogram, ms: number): void {
    const bound = HISTOGRAMS[histogram].find((one) => ms <= one);
    if (bound !== undefined) this.#add(`${histogram} le ${bound}`, 1);
    this.#add(`${histogram} count`, 1);
    this.#add(`${histogram} ms`, ms);
  }

  /** All of it; from here on counting begins anew. */
  take(): Sums {
    const taken = this.all;
    this.#sums = new Map();
    return taken;
  }

  /** Counts what others have counted. */
  merge(sums: Sums): void {
    for (const [series, count] of Object.entries(sums)) this.#add(series, count);
  }

  /** How much there is of a series; 0 where nothing was counted. */
  of(series: string): number {
    return this.#sums.get(series) ?? 0;
  }

  /** All of it, and counting goes on. */
  get all(): Sums {
    return Object.fromEntries(this.#sums);
  }

  get series(): IterableIterator<string> {
    return this.#sums.keys();
  }

  #add(series: string, count: number): void {
    this.#sums.set(series, this.of(series) + count);
  }
}
