// The counts of a run of the exactly-once suite, and the faults that it found.

const SHOWN = 20;

export class Report {
  readonly #counts = new Map<string, number>();
  readonly violations: string[] = [];

  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  /** Something that the interface promises did not hold. */
  wrong(what: string): void {
    this.violations.push(what);
  }

  get(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  text(seed: number, seconds: number): string {
    const { violations } = this;
    const rows = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, n]) => `  ${what.padEnd(44)}${n}`);
    const wrong = violations.slice(0, SHOWN).map((one) => `! ${one}`);
    const more = violations.length > SHOWN ? [`! and ${violations.length - SHOWN} more`] : [];
    const verdict = `${violations.length === 0 ? "good" : "NOT GOOD"}, seed ${seed}, ${seconds.toFixed(0)} s`;
    return [...wrong, ...more, verdict, ...rows].join("\n");
  }
}
