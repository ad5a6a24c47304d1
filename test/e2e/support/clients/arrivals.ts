// Wakes those who wait for something to come: the one queue behind the clients that tests drive.

export class Arrivals {
  readonly #waiting = new Set<() => void>();

  /** Something has come. */
  came(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves when something comes, or after `limitMs`. */
  next(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, limitMs);
      this.#waiting.add(done);
    });
  }

  /**
   * The first answer of `find` that is neither undefined nor false, asked now and each time that something has come.
   * @param ended Why nothing more can come; undefined while it can.
   * @param describe What has come, in words.
   * @throws {Error} If nothing was found in time.
   */
  async until<T>(
    what: string,
    find: () => T | undefined | false,
    limitMs: number,
    ended: () => string | undefined,
    describe: () => string,
  ): Promise<T> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const found = find();
      if (found !== undefined && found !== false) return found;
      const leftMs = deadline - Date.now();
      const why = ended() ?? (leftMs <= 0 ? `waited ${limitMs} ms` : undefined);
      if (why !== undefined) throw new Error(`No ${what} (${why}). Received:\n${describe()}`);
      await this.next(leftMs);
    }
  }
}
