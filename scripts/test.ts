// `npm test [-- SUITE… --changed --since REV --once --report FILE --write-times]`: runs the suites in order, or those that are named,
// streams what they print, and ends with one line of counts. Decides nothing about what counts as passed: local/counts.ts does.
// Exit codes: 0 all passed, 1 something failed, 2 wrong words, 3 it ended before the first test.
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readTextIfPresent } from "../packages/local/src/base/files.ts";
import { BIN, ROOT } from "../packages/local/src/base/paths.ts";
import { findHeadlessChromium } from "../packages/local/src/base/programs.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";
import { buildAll } from "../packages/local/src/build/builds.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";
import { ChildKeeper, type Ending, ending } from "../packages/local/src/processes/children.ts";
import { buildSharedParts } from "../packages/local/src/system/parts.ts";
import {
  addOutcomes,
  checkOutcome,
  combineRuns,
  filesToRunAgain,
  type Outcome,
  vitestOutcome,
} from "./suites/counts.ts";
import { ensurePrerequisites, PrerequisiteError } from "./suites/prerequisites.ts";
import { standstill } from "./suites/progress-reporter.ts";
import { reportingArgs, stuckReport } from "./suites/stuck-report.ts";
import { describeTimes, type SuiteReport, writeTimes } from "./suites/suite-reports.ts";
import { type Command, type Suite, suites } from "./suites/suites.ts";
import { partsNamed, WrongWordsError } from "./suites/task-words.ts";
import { changedSince, readTree } from "./tree/tree.ts";

const scratch = mkdtempSync(join(tmpdir(), "sbx-test-"));
const keeper = new ChildKeeper();
const signal = stopSignal();

/** Built once for all suites. */
const PARTS = join(scratch, "parts");
/** The Worker's main module of those systems whose clock runs faster. */
const CHAOS_ENTRY = join(ROOT, "worker/test/support/chaos-entry.ts");

const PROGRESS = join(ROOT, "scripts/suites/progress-reporter.ts");

/** A runner stops its systems after its report, each within seconds. */
const ENDING_MS = 180_000;

type Stuck = { readonly stuck?: string };
type WhyStuck = () => string | undefined;
/** Says where a stuck process is. */
type Where = (pid: number) => Promise<string>;

/** Suites that run one after the other, and their output. */
class Lane {
  /** The output of a suite that runs beside others is held until the suite has ended. */
  readonly #isHeld: boolean;
  readonly #held: string[] = [];

  constructor(isHeld: boolean) {
    this.#isHeld = isHeld;
  }

  say(line: string): void {
    if (this.#isHeld) this.#held.push(line);
    else console.log(line);
  }

  show(): void {
    if (this.#isHeld) console.log(this.#held.splice(0).join("\n"));
  }

  /**
   * @param whyStuck Asked every second: the process is ended, and has not succeeded, once that says why.
   * @param where Asked before it is ended.
   */
  async run(
    { name, command, args, env }: Command,
    whyStuck: WhyStuck = () => undefined,
    where: Where = async () => "",
  ): Promise<Ending & Stuck> {
    signal.throwIfAborted();
    const output = this.#isHeld ? { logFile: join(scratch, `${randomUUID()}.log`) } : { remembersStderr: true };
    const child = await keeper.start({ name, command, args, cwd: ROOT, env: { ...process.env, ...env }, ...output });
    const stop = (): void => void child.stop(10_000);
    signal.addEventListener("abort", stop);
    let stuck: string | undefined;
    const watch = setInterval(() => {
      if (stuck !== undefined) return;
      stuck = whyStuck();
      if (stuck === undefined) return;
      // A process that has just ended can't be asked.
      const said = where(child.pid).catch(String);
      void said.then((text) => this.say(text)).finally(stop);
    }, 1_000);
    const result = await ending(child);
    clearInterval(watch);
    signal.removeEventListener("abort", stop);
    await child.stop(0);
    if (child.logFile !== undefined) this.say(readFileSync(child.logFile, "utf8").trimEnd());
    signal.throwIfAborted();
    return stuck === undefined ? result : { ...result, stuck };
  }
}

/** Runs each check, two at a time: most of them are compilers, which keep one core busy each. */
async function runChecks(lane: Lane, checks: readonly Command[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...checks];
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      lane.say(`+ ${check.name}`);
      outcomes.push(checkOutcome(check.name, await lane.run(check)));
    }
  };
  await Promise.all([work(), work()]);
  return outcomes;
}

/** A suite to run. `only`: absolute paths of its test files that are to run; absent: all of them. */
type Selected = { readonly suite: Suite; readonly only?: readonly string[] };

async function runSuite(lane: Lane, { suite, only }: Selected): Promise<Outcome> {
  if (suite.kind === "checks") {
    if (suite.checks.length === 0) return { passed: 0, problems: [`${suite.name}: nothing to check`] };
    return addOutcomes(await runChecks(lane, suite.checks));
  }
  const directories = only === undefined ? suite.directories.map((directory) => join(ROOT, directory)) : [];
  const first = await runVitest(lane, suite, "first", only);
  const files = options.once ? [] : filesToRunAgain(first.report);
  if (first.report === undefined || files.length === 0)
    return { ...vitestOutcome(first.report, first.ending, directories), unstable: first.unstable };
  // One core too few for a moment fails a test among thousands. A defect fails it in a system of its own as well.
  lane.say(`\n=== ${suite.name}: once more, in a new system without the others: ${files.join(", ")}`);
  const second = await runVitest(lane, suite, "second", files);
  const { report, unstable } = combineRuns(first.report, second.report);
  return {
    ...vitestOutcome(report, second.ending, directories),
    unstable: [...first.unstable, ...second.unstable, ...unstable],
  };
}

/** @param files Absolute paths of the test files to run; empty: all of the suite. */
async function runVitest(
  lane: Lane,
  suite: Extract<Suite, { kind: "vitest" }>,
  name: string,
  files: readonly string[] = [],
): Promise<{ report: string | undefined; ending: Ending; unstable: string[] }> {
  const path = join(scratch, `${suite.name}-${name}.json`);
  const progress = join(scratch, `${suite.name}-${name}.progress`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${path}`, `--reporter=${PROGRESS}`];
  const args = ["run", ...suite.args, ...reporters, ...files];
  const vitest = join(BIN, "vitest");
  const stuckFile = join(scratch, `${suite.name}-${name}.stuck`);
  const isBun = suite.runtime === "bun";
  const command = isBun
    ? { name: suite.name, command: join(BIN, "bun"), args: ["--bun", vitest, ...args] }
    : { name: suite.name, command: process.execPath, args: [...reportingArgs(stuckFile), vitest, ...args] };
  const env = { ...testEnv(), SBX_PROGRESS: progress };
  const { stuck, ...result } = await lane.run(
    { ...command, env },
    stuckVitest(path, progress),
    isBun ? undefined : (pid) => stuckReport(pid, stuckFile),
  );
  const report = readTextIfPresent(path);
  if (stuck === undefined) return { report, ending: result, unstable: [] };
  const ending = { ...result, exit: `${result.exit}: ${stuck}` };
  if (report === undefined || options.once) return { report, ending, unstable: [] };
  // The report is whole, so the tests in it count. The fault is told, as that of a test that passes in a second run.
  return { report, ending: { ...ending, succeeded: true }, unstable: [`${suite.name}: vitest was ended: ${stuck}`] };
}

/** Why a vitest is stuck that writes its report, the last thing before it stops its systems, and its progress to these files. */
function stuckVitest(report: string, progress: string): WhyStuck {
  let lastMs = Number.POSITIVE_INFINITY;
  return () => {
    if (!existsSync(report)) return standstill(progress);
    lastMs = Math.min(lastMs, Date.now() + ENDING_MS);
    return Date.now() > lastMs ? `it had not ended ${ENDING_MS / 1000} s after its report` : undefined;
  };
}

/** The variables that tests may count on: where Chromium and the built parts are, and where Node keeps compiled code, as thousands of its processes start. */
function testEnv(): Record<string, string> {
  const path = findHeadlessChromium();
  const kept = { NODE_COMPILE_CACHE: join(scratch, "compiled"), SBX_PARTS: PARTS };
  return path === undefined ? kept : { ...kept, CHROMIUM_PATH: path };
}

/** Runs the build as a suite of its own, so that a page that doesn't build is counted once and said once. */
async function runBuild(): Promise<Outcome> {
  try {
    await buildAll(signal);
    await buildSharedParts(PARTS, [CHAOS_ENTRY], signal);
    return checkOutcome("build", { succeeded: true, exit: "" });
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    return checkOutcome("build", { succeeded: false, exit: "see above" });
  }
}

/** Of each suite the files that the change can break. A suite without any is left out, and checks are always made. */
function affected(all: readonly Suite[], since: string): Selected[] {
  const tests = readTree().affectedTests(changedSince(since));
  return all.flatMap((suite): Selected[] => {
    if (suite.kind === "checks") return [{ suite }];
    const only = tests.filter((path) => suite.directories.some((directory) => path.startsWith(`${directory}/`)));
    console.log(`${suite.name}: ${only.length} files that the change can break`);
    return only.length === 0 ? [] : [{ suite, only: only.map((path) => join(ROOT, path)) }];
  });
}

async function runAll(names: readonly string[]): Promise<{ total: Outcome; reports: SuiteReport[] }> {
  const named = partsNamed("suite", suites(join(scratch, "deploy")), names);
  const since = options.since ?? (options.changed ? "HEAD" : undefined);
  const selected: Selected[] = since === undefined ? named.map((suite) => ({ suite })) : affected(named, since);
  if (selected.some(({ suite }) => suite.kind === "vitest")) ensurePrerequisites();

  const outcomes: Outcome[] = [];
  const reports: SuiteReport[] = [];
  const step = async (lane: Lane, name: string, run: () => Promise<Outcome>): Promise<void> => {
    lane.say(`\n=== ${name}`);
    const startedAt = Date.now();
    const outcome = await run();
    lane.show();
    hasTested = true;
    outcomes.push(outcome);
    reports.push({ suite: name, seconds: (Date.now() - startedAt) / 1000, ...outcome });
  };
  const runInTurn = async (lane: Lane, suites: readonly Selected[]): Promise<void> => {
    for (const one of suites) await step(lane, one.suite.name, () => runSuite(lane, one));
  };
  const startedAt = Date.now();
  if (selected.some(({ suite }) => suite.needsBuild)) await step(new Lane(false), "build", runBuild);
  const beside = selected.filter(({ suite }) => suite.isBeside);
  const others = selected.filter(({ suite }) => !suite.isBeside);
  await Promise.all([runInTurn(new Lane(false), others), runInTurn(new Lane(others.length > 0), beside)]);
  reports.push({ suite: "all", seconds: (Date.now() - startedAt) / 1000, ...addOutcomes(outcomes) });
  const total = addOutcomes(outcomes);
  console.log(`\n${describeTimes(reports)}\n`);
  for (const test of total.unstable ?? []) console.log(`- unstable, passed in a second run alone: ${test}`);
  for (const problem of total.problems) console.log(`- ${problem}`);
  return { total, reports };
}

/** How a run ended that tested nothing. */
function describeFailure(error: unknown): unknown {
  if (signal.aborted) return "Stopped";
  const isExpected = error instanceof PrerequisiteError || error instanceof WrongWordsError;
  return isExpected ? error.message : error;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: "boolean" },
    since: { type: "string" },
    once: { type: "boolean" },
    report: { type: "string" },
    "write-times": { type: "boolean" },
  },
});
const CONTRIBUTING = join(ROOT, "CONTRIBUTING.md");
let hasTested = false;
let total: Outcome = { passed: 0, problems: ["stopped before the end"] };
let exitCode = 1;
try {
  const run = await runAll(positionals);
  total = run.total;
  exitCode = total.problems.length === 0 ? 0 : 1;
  if (options.report !== undefined) writeFileSync(options.report, `${JSON.stringify(run.reports)}\n`);
  if (options["write-times"]) writeFileSync(CONTRIBUTING, writeTimes(readFileSync(CONTRIBUTING, "utf8"), run.reports));
} catch (error) {
  console.error(describeFailure(error));
  exitCode = error instanceof WrongWordsError ? 2 : hasTested ? 1 : 3;
} finally {
  keeper.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = exitCode;
console.log(`${total.passed} passed, ${total.problems.length} failed`);
