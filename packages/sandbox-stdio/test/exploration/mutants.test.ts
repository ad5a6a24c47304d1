// What random seeds miss, and the exploration finds. `MUTANT_SEEDS=20000` (test:long) runs that many seeds of all bugs together.

import { expect, test } from "vitest";
import { MUTANTS, runMutated } from "./mutants.ts";

/** For a run that hangs. */
const timeout = 7_200_000;
const SEEDS = process.env.MUTANT_SEEDS ?? "20";

test.each(MUTANTS)("the exploration finds: $bug", { timeout }, async (mutant) => {
  const { code, said } = await runMutated(
    [mutant],
    "exploration/explore-one.ts",
    mutant.scenario,
    String(mutant.faults),
  );
  expect(said).toContain(mutant.finds);
  expect(code).toBe(1);
});

test(`${SEEDS} random seeds miss all of these bugs together`, { timeout }, async () => {
  expect(await runMutated(MUTANTS, "exploration/run-seeds.ts", SEEDS)).toEqual({
    code: 0,
    said: `${SEEDS} seeds passed\n`,
  });
});
