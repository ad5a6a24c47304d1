// The process that runs tests over mutants: a mutant that one file's tests noticed says nothing of the next one.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import type { RunnerAnswer, RunnerRequest } from "../mutation/rooms.ts";

const SOURCE = "export const one = (): number => 1;\n";
const MUTANT = SOURCE.replace("=> 1", "=> 2");

/** A package of two sources, each with a test of its own. */
function packageOfTwo(): string {
  // Below the checkout, where its tests find vitest.
  mkdirSync(join(ROOT, ".local"), { recursive: true });
  const root = mkdtempSync(join(ROOT, ".local/mutants-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["src", "test"]) mkdirSync(join(root, folder));
  for (const name of ["a", "b"]) {
    writeFileSync(join(root, `src/${name}.ts`), SOURCE);
    const lines = [
      'import { expect, test } from "vitest";',
      `import { one } from "../src/${name}.ts";`,
      'test("is one", () => expect(one()).toBe(1));',
    ];
    writeFileSync(join(root, `test/${name}.test.ts`), lines.join("\n"));
  }
  return root;
}

test("a mutant is noticed by its own tests alone, and nothing of it stays", async () => {
  const root = packageOfTwo();
  const runner = fork(join(ROOT, "scripts/mutation/runner.ts"), [JSON.stringify({ root })], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => void runner.kill());
  await once(runner, "message");
  const outcomeOf = async (name: string, text: string): Promise<string> => {
    const tests = [join(root, `test/${name}.test.ts`)];
    runner.send({ path: join(root, `src/${name}.ts`), text, tests } satisfies RunnerRequest);
    const [answer] = (await once(runner, "message")) as [RunnerAnswer];
    return answer.outcome;
  };
  const outcomes: string[] = [];
  for (const [name, text] of [
    ["a", SOURCE],
    ["a", MUTANT],
    ["b", SOURCE],
    ["b", MUTANT],
    ["a", SOURCE],
  ] as const)
    outcomes.push(await outcomeOf(name, text));
  expect(outcomes).toEqual(["survived", "killed", "survived", "killed", "survived"]);
});
