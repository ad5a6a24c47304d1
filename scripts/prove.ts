// `npm run prove [-- --runs 20 SUITE…]`: runs the suites again and again, and keeps a ledger of every run in docs/proof/runs.jsonl. A run counts
// for a suite while nothing has changed that its tests depend on; so after a mend only the suites that it can break start again, and a
// call that was stopped goes on where it was.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { readTextIfPresent } from "../packages/local/src/files.ts";
import { type LedgerLine, parseLedger, runsInARow } from "../packages/local/src/ledger.ts";
import { ROOT } from "../packages/local/src/paths.ts";
import type { SuiteReport } from "../packages/local/src/suite-reports.ts";
import { type Suite, suites } from "../packages/local/src/suites.ts";
import { partsNamed, readWords, wholeNumber } from "../packages/local/src/task-words.ts";
import { fingerprint, isDirty, readTree, revision } from "./tree.ts";

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

/** One run of one suite, without a second chance. @returns Whether it ended with a report. */
function run(name: string): boolean {
  const scratch = mkdtempSync(join(tmpdir(), "sbx-prove-"));
  const report = join(scratch, "report.json");
  const seed = Math.floor(Math.random() * 2 ** 31);
  try {
    const args = [join(ROOT, "scripts/run.mjs"), "test", name, "--once", "--report", report];
    const env = { ...process.env, TEST_SEED: String(seed) };
    spawnSync(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"], env });
    const text = readTextIfPresent(report);
    if (text === undefined) return false;
    const reports = JSON.parse(text) as SuiteReport[];
    const line: LedgerLine = {
      at: new Date().toISOString(),
      revision: revision(),
      suite: name,
      inputs: inputs.get(name) ?? "",
      seed,
      seconds: Math.round(reports.reduce((sum, { seconds }) => sum + seconds, 0)),
      passed: reports.reduce((sum, { passed }) => sum + passed, 0),
      problems: reports.flatMap(({ problems }) => problems),
    };
    mkdirSync(dirname(LEDGER), { recursive: true });
    appendFileSync(LEDGER, `${JSON.stringify(line)}\n`);
    return true;
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
  // The suite that is furthest behind first, so that a call which is stopped leaves no suite out.
  for (;;) {
    const [next] = selected.filter(({ name }) => runsOf(name) < wanted).sort((a, b) => runsOf(a.name) - runsOf(b.name));
    if (next === undefined) break;
    const before = ledger().length;
    if (!run(next.name)) {
      console.error(`${next.name} left no report; see above`);
      process.exit(3);
    }
    if ((ledger()[before]?.problems.length ?? 0) > 0) {
      printStatus();
      console.error(`${next.name} failed. Mend it at its cause and commit; then this goes on`);
      process.exit(1);
    }
  }
}
printStatus();
