// What npm's tasks do with names and numbers that mean nothing: silence would pass for success.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { partsNamed, WrongWordsError, wholeNumber } from "../suites/task-words.ts";

const PARTS = [{ name: "fuzz" }, { name: "chaos" }, { name: "chaos-long" }];

test("a name that is no part's is refused, also beside one that is", () => {
  expect(partsNamed("part", PARTS, [])).toEqual(PARTS);
  expect(partsNamed("part", PARTS, ["chaos"])).toEqual([{ name: "chaos" }]);
  const refused = new WrongWordsError("No such part: cha, x. There are fuzz, chaos, chaos-long");
  expect(() => partsNamed("part", PARTS, ["fuzz", "cha", "x"])).toThrow(refused);
});

test("where beginnings count, one chooses all parts that begin so", () => {
  const begins = (name: string, word: string) => name.startsWith(word);
  expect(partsNamed("part", PARTS, ["cha"], begins)).toEqual([{ name: "chaos" }, { name: "chaos-long" }]);
  expect(() => partsNamed("part", PARTS, ["cha", "x"], begins)).toThrow(WrongWordsError);
});

test("a count is a whole number", () => {
  expect(wholeNumber("--runs", "20")).toBe(20);
  for (const text of ["x", "", "-1", "1.5", "1e3"]) {
    expect(() => wholeNumber("--runs", text)).toThrow(new WrongWordsError("--runs must be a whole number"));
  }
});

test.each([
  ["prove", ["--status", "nosuch"], "No such suite: nosuch. There are lint, "],
  ["mutate", ["--status", "--count", "x"], "--count must be a whole number"],
  ["test-long", ["nosuch"], "No such part: nosuch. There are simulation, "],
])("%s %j ends with 2 and says why", (task, words, said) => {
  const script = fileURLToPath(new URL(`../${task}.ts`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: "utf8" });
  expect([status, stdout, stderr.slice(0, said.length)]).toEqual([2, "", said]);
});
