// Turning what a suite left behind (exit status, vitest's JSON report) into counts. Pure; the rule that a suite which
// ran nothing, or skipped something, has failed is here.
import type { Ending } from "../../packages/local/src/processes/children.ts";

/** Lines of a failure that are said again at the end: enough for a message and where it comes from. */
const FAILURE_LINES = 15;

export interface Outcome {
  readonly passed: number;
  /** The faults, in words: a failed test, a check that ended with an error, a suite that ran nothing. One failure each. */
  readonly problems: readonly string[];
  /** Tests that failed beside all others and passed in a second run without them. They fail nothing, but are told. */
  readonly unstable?: readonly string[];
}

/** More failed files than this have one cause in common: a second run would tell nothing. */
const FILES_TO_RUN_AGAIN = 5;

/** The part of vitest's JSON report that counts. */
interface VitestReport {
  readonly testResults: readonly FileResult[];
}

interface FileResult {
  /** Absolute path of the test file. */
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly TestResult[];
}

interface TestResult {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages?: readonly string[];
}

/** One check that is no test file: it passed or it failed. */
export function checkOutcome(name: string, { succeeded, exit }: Pick<Ending, "succeeded" | "exit">): Outcome {
  return succeeded ? { passed: 1, problems: [] } : { passed: 0, problems: [`${name} failed (${exit})`] };
}

/**
 * Counts of a vitest run.
 *
 * @param report The text of the JSON report; undefined where there is none.
 * @param ending Vitest does not end with 0 after an error outside any test either.
 * @param directories Each must have had a test that ran. Absolute paths.
 */
export function vitestOutcome(
  report: string | undefined,
  ending: Ending,
  directories: readonly string[] = [],
): Outcome {
  if (report === undefined) return { passed: 0, problems: [`vitest left no report: ${describeEnding(ending)}`] };
  const { testResults }: VitestReport = JSON.parse(report);
  let passed = 0;
  const problems: string[] = [];
  for (const file of testResults) {
    const tests = file.assertionResults;
    for (const { status, fullName, failureMessages = [] } of tests) {
      if (status === "passed") passed++;
      else if (status === "failed") problems.push(describeFailure(file, { status, fullName, failureMessages }));
      else problems.push(`skipped: ${fullName} (${file.name})`);
    }
    const hasFailedTest = tests.some(({ status }) => status === "failed");
    if (file.status === "failed" && !hasFailedTest) problems.push(`${file.name}: ${file.message || "failed to load"}`);
    else if (tests.length === 0) problems.push(`${file.name} has no test`);
  }
  for (const directory of directories) {
    const ran = testResults.some(({ name, assertionResults }) => {
      return name.startsWith(`${directory}/`) && assertionResults.some(isPassed);
    });
    if (!ran) problems.push(`no test of ${directory} has passed`);
  }
  if (passed + problems.length === 0) problems.push("no test ran");
  if (!ending.succeeded && problems.length === 0) {
    problems.push(`vitest failed outside of the tests: ${describeEnding(ending)}`);
  }
  return { passed, problems };
}

/** The failed files of a report, by absolute path, if they are few enough to be run once more without the others. */
export function filesToRunAgain(report: string | undefined): string[] {
  if (report === undefined) return [];
  const { testResults }: VitestReport = JSON.parse(report);
  const failed = testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
  return failed.length <= FILES_TO_RUN_AGAIN ? failed : [];
}

/**
 * The results of two runs together: the second one's results count for its files, the first one's for all others.
 *
 * @param second Undefined if the second run left no report: then the first one counts.
 * @returns `unstable`: tests that failed in the first run only, to be told beside the counts.
 */
export function combineRuns(first: string, second: string | undefined): { report: string; unstable: string[] } {
  if (second === undefined) return { report: first, unstable: [] };
  const before: VitestReport = JSON.parse(first);
  const after: VitestReport = JSON.parse(second);
  const again = new Map(after.testResults.map((file) => [file.name, file]));
  const unstable: string[] = [];
  for (const file of before.testResults) {
    const passed = new Set(
      again
        .get(file.name)
        ?.assertionResults.filter(isPassed)
        .map(({ fullName }) => fullName),
    );
    const recovered = file.assertionResults.filter((test) => test.status === "failed" && passed.has(test.fullName));
    unstable.push(...recovered.map((test) => describeFailure(file, test)));
  }
  const testResults = before.testResults.map((file) => again.get(file.name) ?? file);
  return { report: JSON.stringify({ testResults }), unstable };
}

function isPassed({ status }: TestResult): boolean {
  return status === "passed";
}

function describeFailure(file: FileResult, { fullName, failureMessages = [] }: TestResult): string {
  return firstLines(`${fullName} (${file.name}): ${failureMessages.join("\n")}`);
}

function describeEnding({ exit, lastLines }: Ending): string {
  return lastLines === "" ? exit : `${exit}, after\n${lastLines}`;
}

function firstLines(text: string): string {
  return text.split("\n").slice(0, FAILURE_LINES).join("\n");
}

export function addOutcomes(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
    problems: outcomes.flatMap(({ problems }) => problems),
    unstable: outcomes.flatMap(({ unstable = [] }) => unstable),
  };
}
