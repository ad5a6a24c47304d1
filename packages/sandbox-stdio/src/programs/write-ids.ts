// Remembers a process's writes by the ids from their writers (E5), so that the same id is typed once.

/** Most ids remembered per process. */
export const MAX_WRITE_IDS = 10_000;

export class WriteIds {
  /** Hash of the written bytes by id, oldest first. */
  readonly #hashes = new Map<string, string>();

  look(id: string, hash: string): "new" | "known" | "other" {
    const known = this.#hashes.get(id);
    if (known === undefined) return "new";
    return known === hash ? "known" : "other";
  }

  /** The write has been typed. */
  note(id: string, hash: string): void {
    this.#hashes.set(id, hash);
    for (const oldest of this.#hashes.keys()) {
      if (this.#hashes.size <= MAX_WRITE_IDS) return;
      this.#hashes.delete(oldest);
    }
  }
}
