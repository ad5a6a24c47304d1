// `npm test -- --changed` and the ledger of `npm run prove`: which tests a change can break, and which runs count.
import { expect, test } from "vitest";
import { type LedgerLine, parseLedger, runsInARow } from "../suites/ledger.ts";
import { describeTimes, writeTimes } from "../suites/suite-reports.ts";
import { DependencyGraph } from "../tree/affected.ts";
import { readTree } from "../tree/tree.ts";

const file = (path: string, ...names: string[]) => ({
  path,
  text: names.map((name) => `import "${name}";`).join("\n"),
});

const graph = new DependencyGraph(
  [
    file("packages/a/src/index.ts", "./deep.ts"),
    file("packages/a/src/deep.ts"),
    file("packages/a/src/other.ts"),
    file("packages/a/test/deep.test.ts", "./fixture.ts"),
    file("packages/a/test/fixture.ts", "../src/index.ts"),
    file("packages/b/test/b.test.ts", "@own/package-a/deep"),
    file("packages/b/test/loop.test.ts", "./loop.ts"),
    file("packages/b/test/loop.ts", "./loop.test.ts"),
    { path: "test/e2e/path.test.ts", text: 'join(ROOT, "packages/a/src/other.ts")' },
    file("scripts/test/docs.test.ts"),
    file("docs/guide.md"),
  ],
  new Map([["@own/package-a", "packages/a"]]),
);

test.each([
  ["packages/a/src/deep.ts", ["packages/a/test/deep.test.ts", "packages/b/test/b.test.ts"]],
  // By the package's name all of its sources are reached; by a path in the text just that one.
  ["packages/a/src/other.ts", ["packages/b/test/b.test.ts", "test/e2e/path.test.ts"]],
  ["packages/b/test/loop.ts", ["packages/b/test/loop.test.ts"]],
  ["docs/guide.md", []],
])("a change of %s can break what names it, however far away, and what reads the whole tree", (path, tests) => {
  expect(graph.affectedTests([path])).toEqual([...tests, "scripts/test/docs.test.ts"].sort());
});

test("a change of the dependencies can break everything", () => {
  expect(graph.affectedTests(["package-lock.json"])).toHaveLength(5);
});

test("a suite's inputs are what its tests reach; of tests that read the whole tree, all", () => {
  expect(graph.inputsOf(["packages/a"])).toEqual([
    "packages/a/src/deep.ts",
    "packages/a/src/index.ts",
    "packages/a/test/deep.test.ts",
    "packages/a/test/fixture.ts",
  ]);
  expect(graph.inputsOf(["scripts"])).toHaveLength(11);
});

const thisTree = readTree();

test.each([
  ["packages/sbx-cli/src/main.ts", "test/e2e/cli/cli.test.ts"],
  ["packages/dashboard/src/app/App.tsx", "test/browser/tabs.test.ts"],
  ["worker/src/objects/session-object.ts", "test/e2e/stream/resume.test.ts"],
  ["worker/src/objects/session-object.ts", "worker/test/objects/session-object.test.ts"],
  ["sandbox/src/session/host.ts", "test/browser/terminal.test.ts"],
  ["wrangler.toml", "worker/test/objects/session-object.test.ts"],
])("in this tree a change of %s can break %s", (changed, broken) => {
  expect(thisTree.affectedTests([changed])).toContain(broken);
});

test("in this tree a change of the page breaks no test of the bridge or the Worker", () => {
  const broken = thisTree.affectedTests(["packages/dashboard/src/texts/texts.ts"]);
  expect(broken.filter((path) => /^(worker|sandbox)\//.test(path))).toEqual([]);
});

const line = (suite: string, inputs: string, ...problems: string[]): LedgerLine => ({
  at: "2026-11-28T12:00:00Z",
  revision: "0123456789ab",
  suite,
  inputs,
  seed: 1,
  seconds: 60,
  passed: 10,
  problems,
});

test("runs count while nothing has changed that they depend on, and from the last failure on", () => {
  const ledger = [
    line("e2e", "old"),
    line("e2e", "new"),
    line("e2e", "new", "a test"),
    line("unit", "new"),
    line("e2e", "new"),
  ];
  const text = ledger.map((one) => `${JSON.stringify(one)}\n`).join("");
  expect(parseLedger(text)).toEqual(ledger);
  expect(runsInARow(ledger, "e2e", "new")).toBe(1);
  expect(runsInARow(ledger, "e2e", "old")).toBe(1);
  expect(runsInARow(ledger, "unit", "new")).toBe(1);
  expect(runsInARow(ledger, "unit", "newer")).toBe(0);
});

test("a run's times are a table for people, and replace the block of the page", () => {
  const reports = [
    { suite: "lint", seconds: 3.04, passed: 2, problems: [] },
    { suite: "e2e", seconds: 200.6, passed: 1000, problems: ["one"] },
  ];
  expect(describeTimes(reports)).toBe(
    [
      "suite    passed  failed   seconds",
      "lint          2       0       3.0",
      "e2e        1000       1     200.6",
    ].join("\n"),
  );
  const page = "before\n<!-- times -->\nold\n<!-- /times -->\nafter\n";
  const written = writeTimes(page, reports, new Date("2026-11-28T12:00:00Z"));
  expect(written.replace(/, \d+ cores/, "")).toBe(
    [
      "before\n<!-- times -->\n| 2026-11-28 | tests | seconds |\n|---|--:|--:|\n| lint | 2 | 3 |",
      "| e2e | 1000 | 201 |\n<!-- /times -->\nafter\n",
    ].join("\n"),
  );
  expect(() => writeTimes("no block", reports)).toThrow("CONTRIBUTING.md has no block");
});
