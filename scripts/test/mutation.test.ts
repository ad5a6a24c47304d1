// The mutants of a small package, and what its tests find of them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { runInNewContext } from "node:vm";
import { parseSync } from "vite";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { askTests, type Outcome } from "../mutation/asking.ts";
import { findEquivalents, meantBy, mutantsIn as mutantsOfFile } from "../mutation/equivalents.ts";
import { type Mutant, withSwitches } from "../mutation/mutants.ts";

const SOURCE = `const LIMIT = 2 + 3;
export const isOver = (count: number): boolean => count > LIMIT;
export function steps(count: number): number {
  let done = 0;
  while (done < count) done += 1;
  return done;
}
export const unused = (one: number): number => one * 2;
`;
const TESTS = `import { expect, test } from "vitest";
import { isOver, steps } from "../src/steps.ts";
test("counts", () => expect(steps(3)).toBe(3));
test("five is not over", () => expect([isOver(5), isOver(7)]).toEqual([false, true]));
`;

const mutantsIn = (text: string): Mutant[] => mutantsOfFile("some.ts", text);
const numbered = (text: string): Map<number, Mutant> => new Map(mutantsIn(text).entries());

/** @returns What became of each mutant, by "was -> replacement". */
async function outcomesOf(source: string, tests: string): Promise<Record<string, Outcome>> {
  // Below the checkout, where its tests find vitest.
  mkdirSync(join(ROOT, ".local"), { recursive: true });
  const root = mkdtempSync(join(ROOT, ".local/mutants-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["src", "test"]) mkdirSync(join(root, folder));
  const [path, file] = [join(root, "src/steps.ts"), join(root, "test/steps.test.ts")];
  writeFileSync(path, source);
  writeFileSync(file, tests);
  const mutants = numbered(source);
  const outcomes: Record<string, Outcome> = {};
  await askTests({
    suite: { tests: join(".local", basename(root)), runtime: "node", quickMs: [15, 150] },
    texts: new Map([[path, withSwitches(source, mutants, "globalThis.mutants.is")]]),
    mutants: [...mutants.keys()],
    stages: [[file]],
    slowestMs: 3_000,
    testsFor: () => [file],
    stageEnded: () => undefined,
    note: (number, outcome) => {
      const { start, end, replacement } = mutants.get(number) as Mutant;
      const { test, ...told } = outcome;
      if (test !== undefined) expect(test).toBe(file);
      outcomes[`${source.slice(start, end)} -> ${replacement}`] = told;
    },
  });
  return outcomes;
}

test("each mutant is tried by the tests that run over it, those of loading and endless ones too", async () => {
  const by = (name: string) => ({ outcome: "killed", by: name });
  const isOver = by("five is not over");
  const steps = by("counts");
  expect(await outcomesOf(SOURCE, TESTS)).toEqual({
    "+ -> -": isOver,
    "> -> >=": isOver,
    "> -> <=": isOver,
    "done < count -> false": steps,
    "< -> <=": steps,
    "< -> >=": steps,
    "done += 1; -> ;": steps,
    "+= -> -=": steps,
    "{\n  let done = 0;\n  while (done < count) done += 1;\n  return done;\n} -> {}": steps,
    "* -> /": { outcome: "survived", by: "no test runs over it" },
  });
});

const WAITS = `export const reach = (isThere: boolean): Promise<void> => isThere ? Promise.resolve() : new Promise(() => undefined);
export const one = (): number => 2 - 1;
`;
const TESTS_OF_WAITS = `import { expect, test } from "vitest";
import { one, reach } from "../src/steps.ts";
test("reaches", () => reach(true));
test("counts", () => expect(one()).toBe(1));
`;

test("a mutant by which a test waits for good has hung, and the others are asked about in a new process", async () => {
  expect(await outcomesOf(WAITS, TESTS_OF_WAITS)).toEqual({
    "isThere -> true": { outcome: "survived" },
    "isThere -> false": { outcome: "hung" },
    "- -> +": { outcome: "killed", by: "counts" },
  });
});

const SPOILS = `export const box = { isSpoilt: false };
export const look = (isFine: boolean): void => {
  if (!isFine) box.isSpoilt = true;
};
export const two = (): number => 3 - 1;
`;
const TESTS_OF_SPOILS = `import { expect, test } from "vitest";
import { box, look, two } from "../src/steps.ts";
test("looks", () => look(true));
test("is fine", () => expect([box.isSpoilt, two()]).toEqual([false, 2]));
`;

test("a test that fails since a mutant of one before it has spoiled the process is asked in a new one", async () => {
  const isFine = { outcome: "killed", by: "is fine" };
  const survived = { outcome: "survived" };
  expect(await outcomesOf(SPOILS, TESTS_OF_SPOILS)).toEqual({
    "false -> true": isFine,
    "!isFine -> true": survived,
    "!isFine -> false": survived,
    "!isFine -> isFine": survived,
    "box.isSpoilt = true; -> ;": { ...survived, by: "no test runs over it" },
    "true -> false": { ...survived, by: "no test runs over it" },
    "- -> +": isFine,
  });
});

test.each([
  ["a chain of optional members", "x?.a.min(b)?.c.push(d);"],
  ["operators that may not stand side by side", "const y = a ?? (b ?? c) ?? d;"],
  ["an else that follows a statement", "if (a) b(); else c();"],
  ["a method of every object", "x.toString(); x.constructor();"],
  ["bodies within bodies", "const f = async () => { g(); await h(() => { i(); j(); }); };"],
  ["a condition that is an operator", "const z = a > b ? !c : (d += 1);"],
])("the text with all switches can be read: %s", (_, text) => {
  const mutants = numbered(text);
  const switched = withSwitches(text, mutants, "is");
  expect(parseSync("some.ts", switched).errors).toEqual([]);
  expect([...mutants.keys()].filter((number) => !switched.includes(`is(${number})`))).toEqual([]);
});

test("with no mutant on, the text does what it did", () => {
  const text =
    "const r = []; for (let i = 0; i < 5; i++) { if (i % 2 === 0 && i > 0) r.push(i); else r.unshift(-i); } r";
  const mutants = numbered(text);
  expect(mutants.size).toBeGreaterThan(10);
  const resultOf = (code: string): unknown => runInNewContext(code, { is: () => false });
  expect(JSON.stringify(resultOf(withSwitches(text, mutants, "is")))).toBe(JSON.stringify(resultOf(text)));
});

test("a line of the list means the mutant with its text, and among several of a file those on its line", () => {
  const text = "const a = b > c;\nconst d = e > f;\nif (a)\n  g();\n";
  const meant = (was: string, replacement: string, line: number): number[] =>
    meantBy({ file: "", why: "", was, replacement, line }, text, mutantsIn(text)).map(({ start }) => start);
  expect(meant(">", ">=", 2)).toEqual([text.lastIndexOf(">")]);
  expect(meant("g();", ";", 1)).toEqual([text.indexOf("g()")]);
  expect(meant(">", ">=", 3)).toEqual([]);
  expect(meant("h();", ";", 4)).toEqual([]);
});

test("each line of the list of equivalent mutants still means one, and says why", () => {
  const stale = findEquivalents().filter(({ equivalent, keys }) => keys.length === 0 || !equivalent.why);
  expect(stale.map(({ equivalent }) => equivalent)).toEqual([]);
});
