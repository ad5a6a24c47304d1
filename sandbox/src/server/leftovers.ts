// Runs the garbage collector after many starts: each leaves 25 KB behind, and by itself the collector runs once a second.

/** Few enough that a burst of starts does not grow the process; a collection takes 7 ms of CPU. */
const STARTS = 32;

export class Leftovers {
  readonly #collect: () => void;
  #starts = 0;

  /** @param collect Asks for a collection without waiting: most of the work is done on other threads. */
  constructor(collect: () => void = () => Bun.gc(false)) {
    this.#collect = collect;
  }

  /** A session was started. */
  started(): void {
    this.#starts += 1;
    if (this.#starts % STARTS === 0) this.#collect();
  }
}
