// The writes that a process has had, by the ids that their writers gave them (E5): the same id is typed once.

/** Of one process. */
export const MAX_WRITE_IDS = 10_000;

export class WriteIds {
  /** The hash of what was written, oldest first. */
  readonly #hashes = new Map<string, string>();

  look(id: string, hash: string): "new" | "known" | "other" {
    const known = this.#hashes.get(id);
    if (known === undefined) return "new";
    return known === hash ? "known" : "other";
  }

  /** It has been typed. */
  note(id: string, hash: string): void {
    this.#hashes.set(id, hash);
    for (const oldest of this.#hashes.keys()) {
      if (this.#hashes.size <= MAX_WRITE_IDS) return;
      this.#hashes.delete(oldest);
    }
  }
}
