// The ledgers: one line of JSON for each whole run of a suite, or for each run of a part of test:long. Pure.

export interface LedgerLine {
  /** ISO 8601, at the run's end. */
  readonly at: string;
  readonly revision: string;
  readonly suite: string;
  /** A hash of all files that the suite's tests depend on. */
  readonly inputs: string;
  readonly seed: number;
  readonly seconds: number;
  readonly passed: number;
  readonly problems: readonly string[];
}

/** A run of a part of test:long, which may be one piece of many. */
export interface LongLine extends Omit<LedgerLine, "suite" | "passed" | "problems"> {
  readonly part: string;
  readonly hasPassed: boolean;
  /** What it has counted, in plain words. */
  readonly counts: Readonly<Record<string, number>>;
}

/** @throws {SyntaxError} For a line that is not JSON. */
export function parseLedger<Line = LedgerLine>(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** All of them together. */
export function sumCounts(counts: readonly LongLine["counts"][]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const one of counts) for (const [what, count] of Object.entries(one)) sums[what] = (sums[what] ?? 0) + count;
  return sums;
}

/** Runs of a suite over these inputs without a failure, since its last failure over them. */
export function runsInARow(ledger: readonly LedgerLine[], suite: string, inputs: string): number {
  const runs = ledger.filter((line) => line.suite === suite && line.inputs === inputs);
  return runs.length - 1 - runs.findLastIndex(({ problems }) => problems.length > 0);
}
