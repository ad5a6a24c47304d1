// Seeded chance, for runs that can be repeated: the same seed gives the same numbers.

export class Random {
  #state: number;

  /** @param label The use of the numbers: each label has a sequence of its own, in whatever order others draw theirs. */
  constructor(seed: number, label?: string) {
    this.#state = seed >>> 0;
    if (label === undefined) return;
    let hash = (seed ^ 0x811c9dc5) >>> 0;
    for (let i = 0; i < label.length; i += 1) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193) >>> 0;
    this.#state = hash;
    // Seeds that differ in one bit would begin alike.
    for (let i = 0; i < 4; i += 1) this.next();
  }

  /** From 0 to 1, 1 excluded (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** Like {@link int}, but small values are as likely as large ones: 1 to 10 as often as 10 to 100. */
  scale(min: number, max: number): number {
    if (min < 1) return this.scale(min + 1, max + 1) - 1;
    return Math.round(min * (max / min) ** this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws {RangeError} If there are no items. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new RangeError("Cannot pick one of nothing");
    return item;
  }

  /** One of `choices`, each as often as its weight says. @throws {RangeError} If there are no choices. */
  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    let total = 0;
    for (const [, weight] of choices) total += weight;
    let at = this.next() * total;
    for (const [choice, weight] of choices) {
      at -= weight;
      if (at < 0) return choice;
    }
    const last = choices.at(-1);
    if (last === undefined) throw new RangeError("Cannot pick one of nothing");
    return last[0];
  }

  /** So many bytes, of which no run repeats soon. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    const words = new Uint32Array(Math.ceil(length / 4));
    for (let i = 0; i < words.length; i += 1) words[i] = this.next() * 0x1_0000_0000;
    return new Uint8Array(words.buffer, 0, length);
  }
}
