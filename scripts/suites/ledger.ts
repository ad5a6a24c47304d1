// The ledger of whole runs: one line of JSON for each run of a suite. Pure.

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

/** @throws {SyntaxError} For a line that is not JSON. */
export function parseLedger(text: string): LedgerLine[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LedgerLine);
}

/** Runs of a suite over these inputs without a failure, since its last failure over them. */
export function runsInARow(ledger: readonly LedgerLine[], suite: string, inputs: string): number {
  const runs = ledger.filter((line) => line.suite === suite && line.inputs === inputs);
  return runs.length - 1 - runs.findLastIndex(({ problems }) => problems.length > 0);
}
