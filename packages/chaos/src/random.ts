// Seeded chance: the same seed and label give the same numbers, in whatever order others draw theirs.

export class Random {
  #state: number;

  /** @param label What the numbers are for: each label has a sequence of its own. */
  constructor(seed: number, label = "") {
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
    return min - 1 + Math.floor((max - min + 2) ** this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of `choices`, each as often as its weight says. */
  pick<T>(choices: readonly (readonly [T, number])[]): T {
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
}
