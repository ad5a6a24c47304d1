// Turning what a suite left behind (exit status, vitest's JSON report) into counts. Pure; the rule that a suite which
// ran nothing, or skipped something, has failed is here.
import type { Ending } from "./children.ts";

/** Lines of a failure that are said again at the end: enough for a message and where it comes from. */
const FAILURE_LINES = 15;

export interface Outcome {
  readonly passed: number;
  /** What is wrong, in words: a failed test, a check that ended with an error, a suite that ran nothing. One failure each. */
  readonly problems: readonly string[];
}

/** The part of vitest's JSON report that counts. */
interface VitestReport {
  readonly testResults: readonly {
    /** Absolute path of the test file. */
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
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
      else if (status === "failed")
        problems.push(firstLines(`${fullName} (${file.name}): ${failureMessages.join("\n")}`));
      else problems.push(`skipped: ${fullName} (${file.name})`);
    }
    const hasFailedTest = tests.some(({ status }) => status === "failed");
    if (file.status === "failed" && !hasFailedTest) problems.push(`${file.name}: ${file.message || "failed to load"}`);
    else if (tests.length === 0) problems.push(`${file.name} has no test`);
  }
  for (const directory of directories) {
    const ran = testResults.some(({ name, assertionResults }) => {
      return name.startsWith(`${directory}/`) && assertionResults.some(({ status }) => status === "passed");
    });
    if (!ran) problems.push(`no test of ${directory} has passed`);
  }
  if (passed + problems.length === 0) problems.push("no test ran");
  if (!ending.succeeded && problems.length === 0) {
    problems.push(`vitest failed outside of the tests: ${describeEnding(ending)}`);
  }
  return { passed, problems };
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
  };
}
