// Has the runtime's collector look after many starts: each leaves 25 KB behind, and by itself the collector comes once a second.

/** So few that a burst of starts does not grow the process, and so many that they cost little: a look takes 7 ms of CPU. */
const STARTS = 32;

export class Leftovers {
  readonly #collect: () => void;
  #starts = 0;

  /** @param collect Does not wait for it: most of the work is done beside this thread. */
  constructor(collect: () => void = () => Bun.gc(false)) {
    this.#collect = collect;
  }

  /** A session was started. */
  started(): void {
    this.#starts += 1;
    if (this.#starts % STARTS === 0) this.#collect();
  }
}
