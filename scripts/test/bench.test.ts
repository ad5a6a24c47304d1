// `npm run bench` before it measures anything: a wrong word must not cost a run, nor the page its table.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TABLE_FILE, withTable } from "../../packages/bench/src/table-file.ts";

const SCRIPT = fileURLToPath(new URL("../bench.ts", import.meta.url));

test.each([
  [["--only", "echoIdle,nothing"], 'There is no "nothing"; there are connectToPrompt, echoIdle, '],
  [["--subjects", "path,pth"], 'There is no "pth"; there are bridge, bridge floor, path, path floor, node-pty, ssh.'],
  [["--only", ""], 'There is no ""; there are connectToPrompt, '],
  [["--rounds", "0"], "It must be a whole number from 1 on."],
  [["--rounds", "many"], "It must be a whole number from 1 on."],
  [["--fast"], "unknown option '--fast'"],
  [["echoIdle"], "too many arguments"],
])("wrong usage is told in a line, with 2: %j", (args, words) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, "--no-write", ...args], { encoding: "utf8" });
  expect([status, stdout, stderr.trim().split("\n").length]).toEqual([2, "", 1]);
  expect(stderr).toContain(words);
});

test("the table takes the place of the one in docs/benchmark.md, and all else stays", () => {
  const page = readFileSync(TABLE_FILE, "utf8");
  const [before, , after] = page.split(/<!-- \/?bench -->/);
  expect(withTable(page, "| $& | 1 |")).toBe(`${before}<!-- bench -->\n| $& | 1 |\n<!-- /bench -->${after}`);
});

test.each([
  ["none", "", 0],
  ["two pairs of", "<!-- bench --><!-- /bench --><!-- bench --><!-- /bench -->", 2],
])("a page with %s markers is not written", (_what, page, count) => {
  expect(() => withTable(page, "table")).toThrow(`Cannot place the table: the page has ${count} places for it`);
});
