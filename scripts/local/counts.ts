// Turning what a suite left behind (exit status, vitest's JSON report) into counts. Pure; the rule that a suite which
// ran nothing, or skipped something, has failed is here.

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** What is wrong besides failed tests, in words. Each is counted in `failed`. */
  readonly problems: readonly string[];
}

/** The part of vitest's JSON report that counts. */
interface VitestReport {
  readonly testResults: readonly {
    /** Absolute path of the test file. */
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** One check that is no test file: it passed or it failed. */
export function checkOutcome(name: string, exit: string, succeeded: boolean): Outcome {
  return succeeded
    ? { passed: 1, failed: 0, problems: [] }
    : { passed: 0, failed: 1, problems: [`${name} failed (${exit})`] };
}

/**
 * Counts of a vitest run.
 *
 * @param report The text of the JSON report; undefined where there is none.
 * @param succeeded Whether vitest ended with 0: it doesn't after an error outside any test.
 * @param directories Each must have had a test that ran. Absolute paths.
 */
export function vitestOutcome(
  report: string | undefined,
  succeeded: boolean,
  directories: readonly string[] = [],
): Outcome {
  if (report === undefined) return { passed: 0, failed: 1, problems: ["vitest left no report: it did not get to run"] };
  const { testResults }: VitestReport = JSON.parse(report);
  let passed = 0;
  let failed = 0;
  const problems: string[] = [];
  for (const file of testResults) {
    const tests = file.assertionResults;
    for (const { status, fullName } of tests) {
      if (status === "passed") passed++;
      else if (status === "failed") failed++;
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
  if (passed + failed === 0 && problems.length === 0) problems.push("no test ran");
  if (!succeeded && failed + problems.length === 0) problems.push("vitest failed outside of the tests, see above");
  return { passed, failed: failed + problems.length, problems };
}

export function addOutcomes(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
    failed: outcomes.reduce((sum, { failed }) => sum + failed, 0),
    problems: outcomes.flatMap(({ problems }) => problems),
  };
}
