// What long runs have counted, for the ledger of `npm run test:long -- --ledger`, which names a file for it.
import { appendFileSync } from "node:fs";

/** Adds to the run's counts, by plain names such as `cuts`. Does nothing without a ledger. */
export function noteCounts(counts: Readonly<Record<string, number>>): void {
  const file = process.env.COUNTS_FILE;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(counts)}\n`);
}
