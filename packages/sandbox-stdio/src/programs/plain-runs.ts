// Maps plain text to the log: runs of characters that are adjacent in both.

/** From position `at` of the text on, each UTF-16 unit takes `width` bytes of the log, starting at `offset`. */
export type PlainRun = { readonly at: number; readonly offset: number; readonly width: number };

/** Collects runs, character by character. */
export class PlainRuns {
  #runs: PlainRun[] = [];
  #nextAt = -1;
  #nextOffset = -1;
  #width = -1;

  /** The character at `at` takes `units` UTF-16 units, and `bytes` of the log from `offset` on. */
  add(at: number, units: number, offset: number, bytes: number): void {
    const width = bytes / units;
    if (at !== this.#nextAt || offset !== this.#nextOffset || width !== this.#width) {
      this.#runs.push({ at, offset, width });
    }
    this.#nextAt = at + units;
    this.#nextOffset = offset + bytes;
    this.#width = width;
  }

  take(): PlainRun[] {
    const runs = this.#runs;
    this.#runs = [];
    this.#nextAt = -1;
    return runs;
  }
}

/** The map of a window of plain text. */
export class PlainMap {
  #runs: PlainRun[] = [];

  /** Replaces everything from `at` on by `runs`. */
  replace(at: number, runs: readonly PlainRun[]): void {
    while (this.#runs.length > 0 && (this.#runs.at(-1)?.at ?? 0) >= at) this.#runs.pop();
    for (const run of runs) this.#runs.push(run);
  }

  /** Forgets the runs before the one at `at`. */
  dropBefore(at: number): void {
    const kept = this.#find(at);
    if (kept > 0) this.#runs.splice(0, kept);
  }

  /** Log offset of the first byte of the unit at `position`. */
  startOf(position: number): number {
    const run = this.#runs[this.#find(position)];
    return run === undefined ? 0 : run.offset + (position - run.at) * run.width;
  }

  /** Log offset after the unit before `position`. */
  endOf(position: number): number {
    const run = this.#runs[this.#find(position - 1)];
    return run === undefined ? 0 : run.offset + (position - run.at) * run.width;
  }

  /** Index of the last run that begins at or before `position`. */
  #find(position: number): number {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#runs[middle]?.at ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
