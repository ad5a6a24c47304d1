// Which results count as passed: reports as vitest writes them.
import { expect, test } from "vitest";
import { addOutcomes, checkOutcome, combineRuns, filesToRunAgain, vitestOutcome } from "../suites/counts.ts";

type Result = { name: string; status: string; message?: string; assertionResults: object[] };

const succeeded = { succeeded: true, exit: "exit code 0", lastLines: "" };
const failed = { succeeded: false, exit: "exit code 1", lastLines: "" };

const file = (name: string, statuses: string[], status = "passed", message = ""): Result => ({
  name,
  status,
  message,
  assertionResults: statuses.map((state, index) => ({
    status: state,
    fullName: `test ${index}`,
    failureMessages: state === "failed" ? ["AssertionError: expected 1 to be 2"] : [],
  })),
});
const report = (...testResults: Result[]): string => JSON.stringify({ testResults });

test("passed and failed tests are counted over all files", () => {
  const text = report(file("/p/a.test.ts", ["passed", "passed"]), file("/p/b.test.ts", ["passed", "failed"], "failed"));
  const problems = ["test 1 (/p/b.test.ts): AssertionError: expected 1 to be 2"];
  expect(vitestOutcome(text, failed)).toEqual({ passed: 3, problems });
});

test.each(["skipped", "pending", "todo"])("a test that is %s counts as failed and is named", (status) => {
  expect(vitestOutcome(report(file("/p/a.test.ts", ["passed", status])), succeeded)).toEqual({
    passed: 1,
    problems: ["skipped: test 1 (/p/a.test.ts)"],
  });
});

test("a file that can't be loaded counts as one failure, with its message", () => {
  const text = report(file("/p/a.test.ts", ["passed"]), file("/p/b.test.ts", [], "failed", "No such module"));
  expect(vitestOutcome(text, failed)).toEqual({ passed: 1, problems: ["/p/b.test.ts: No such module"] });
});

test.each([
  ["a file without a test", report(file("/p/a.test.ts", [])), succeeded, "/p/a.test.ts has no test"],
  ["a suite that ran no test", report(), succeeded, "no test ran"],
  ["a suite that left no report", undefined, failed, "vitest left no report: exit code 1"],
  [
    "an error outside of the tests",
    report(file("/p/a.test.ts", ["passed"])),
    { succeeded: false, exit: "SIGSEGV", lastLines: "oh no" },
    "vitest failed outside of the tests: SIGSEGV, after\noh no",
  ],
])("%s is a failure", (_what, text, ending, problem) => {
  expect(vitestOutcome(text, ending).problems).toEqual([problem]);
});

test("a directory of which no test has passed is a failure; one whose name begins alike doesn't count for it", () => {
  const text = report(file("/p/one/a.test.ts", ["passed"]), file("/p/two-more/a.test.ts", ["passed"]));
  expect(vitestOutcome(text, succeeded, ["/p/one", "/p/two"]).problems).toEqual(["no test of /p/two has passed"]);
});

test("outcomes of checks and suites add up", () => {
  const outcomes = [checkOutcome("tsc", succeeded), checkOutcome("biome", failed)];
  expect(addOutcomes(outcomes)).toEqual({ passed: 1, problems: ["biome failed (exit code 1)"], unstable: [] });
});

const unstableFailure = "test 0 (/p/b.test.ts): AssertionError: expected 1 to be 2";

test("few failed files are run again, among them those that could not be loaded; many are not", () => {
  const failing = (count: number): Result[] =>
    Array.from({ length: count }, (_, index) => file(`/p/${index}.test.ts`, ["failed"], "failed"));
  const broken = file("/p/b.test.ts", [], "failed", "No such module");
  expect(filesToRunAgain(report(file("/p/a.test.ts", ["passed"]), broken))).toEqual(["/p/b.test.ts"]);
  expect(filesToRunAgain(report(...failing(5)))).toHaveLength(5);
  expect(filesToRunAgain(report(...failing(6)))).toEqual([]);
  expect(filesToRunAgain(undefined)).toEqual([]);
});

test("a test that passes in the second run counts as passed and is named as unstable", () => {
  const first = report(file("/p/a.test.ts", ["passed"]), file("/p/b.test.ts", ["failed", "passed"], "failed"));
  const both = combineRuns(first, report(file("/p/b.test.ts", ["passed", "passed"])));
  expect(vitestOutcome(both.report, succeeded)).toEqual({ passed: 3, problems: [] });
  expect(both.unstable).toEqual([unstableFailure]);
});

test("a test that fails in both runs has failed, and so has one whose second run left no report", () => {
  const first = report(file("/p/b.test.ts", ["failed"], "failed"));
  for (const both of [combineRuns(first, first), combineRuns(first, undefined)]) {
    expect(vitestOutcome(both.report, failed)).toEqual({ passed: 0, problems: [unstableFailure] });
    expect(both.unstable).toEqual([]);
  }
});
