// The sandboxes that a client was let in to, as this Worker has seen it: their containers' objects are there. It is a hint, which
// forgets the oldest, so that the names that others choose do not fill the memory.

export class SandboxesInUse {
  readonly #keys = new Set<string>();
  readonly #most: number;

  constructor(most = 10_000) {
    this.#most = most;
  }

  has(sandboxKey: string): boolean {
    return this.#keys.has(sandboxKey);
  }

  add(sandboxKey: string): void {
    this.#keys.delete(sandboxKey);
    this.#keys.add(sandboxKey);
    const [oldest] = this.#keys;
    if (this.#keys.size > this.#most && oldest !== undefined) this.#keys.delete(oldest);
  }
}
