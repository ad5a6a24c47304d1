// `npm run prove [-- --runs 20 SUITE…]`: runs the suites again and again, and keeps a ledger of every run in docs/proof/runs.jsonl. A run counts
// for a suite while nothing has changed that its tests depend on; so after a mend only the suites that it can break start again, and a
// call that was stopped goes on where it was.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { readTextIfPresent } from "../packages/local/src/base/files.ts";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { writeProofPage } from "./pages/proof-page.ts";
import { type LedgerLine, parseLedger, runsInARow } from "./suites/ledger.ts";
import type { SuiteReport } from "./suites/suite-reports.ts";
import { type Suite, suites } from "./suites/suites.ts";
import { partsNamed, readWords, wholeNumber } from "./suites/task-words.ts";
import { fingerprint, isDirty, readTree, revision } from "./tree/tree.ts";

const LEDGER = join(ROOT, "docs/proof/runs.jsonl");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "20" }, status: { type: "boolean" } },
});
const selected = readWords(() => partsNamed("suite", suites(""), positionals));
const wanted = readWords(() => wholeNumber("--runs", values.runs));
const tree = readTree();

const inputsOf = (suite: Suite): string => fingerprint(tree.inputsOf(suite.kind === "vitest" ? suite.directories : []));
const inputs = new Map(selected.map((suite) => [suite.name, inputsOf(suite)]));
const ledger = (): LedgerLine[] => parseLedger(readTextIfPresent(LEDGER) ?? "");
const runsOf = (name: string): number => runsInARow(ledger(), name, inputs.get(name) ?? "");

/** One run of these suites, without a second chance. @returns The lines that it has added; none if it ended without a report. */
function run(names: readonly string[]): LedgerLine[] {
  const scratch = mkdtempSync(join(tmpdir(), "sbx-prove-"));
  const report = join(scratch, "report.json");
  const seed = Math.floor(Math.random() * 2 ** 31);
  try {
    const args = [join(ROOT, "scripts/run.mjs"), "test", ...names, "--once", "--report", report];
    const env = { ...process.env, TEST_SEED: String(seed) };
    spawnSync(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"], env });
    const text = readTextIfPresent(report);
    if (text === undefined) return [];
    const about = { at: new Date().toISOString(), revision: revision(), seed };
    const lines = (JSON.parse(text) as SuiteReport[]).flatMap(({ suite, seconds, passed, problems }): LedgerLine[] => {
      if (!names.includes(suite)) return [];
      return [{ ...about, suite, inputs: inputs.get(suite) ?? "", seconds: Math.round(seconds), passed, problems }];
    });
    mkdirSync(dirname(LEDGER), { recursive: true });
    for (const line of lines) appendFileSync(LEDGER, `${JSON.stringify(line)}\n`);
    writeProofPage();
    return lines;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function printStatus(): void {
  for (const { name } of selected) console.log(`${name.padEnd(8)} ${runsOf(name)} of ${wanted} runs without a failure`);
}

if (!values.status) {
  if (isDirty()) {
    console.error("Commit first: the ledger names what was tested by its revision");
    process.exit(2);
  }
  for (;;) {
    const behind = selected.filter(({ name }) => runsOf(name) < wanted).map(({ name }) => name);
    if (behind.length === 0) break;
    const lines = run(behind);
    if (lines.length === 0) {
      console.error("No report; see above");
      process.exit(3);
    }
    const failed = lines.filter(({ problems }) => problems.length > 0).map(({ suite }) => suite);
    if (failed.length > 0) {
      printStatus();
      console.error(`Failed: ${failed.join(", ")}. Mend it at its cause and commit; then this goes on`);
      process.exit(1);
    }
  }
}
printStatus();
