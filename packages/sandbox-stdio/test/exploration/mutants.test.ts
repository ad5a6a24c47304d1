// What the exploration finds: the first of the bugs, and with `MUTANT_SEEDS=20000` (test:long) each of them. Random seeds miss all together.

import { expect, test } from "vitest";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { MUTANTS, runMutated } from "./mutants.ts";

/** For a run that hangs. */
const timeout = 7_200_000;
const { MUTANT_SEEDS } = process.env;

test.each(MUTANT_SEEDS === undefined ? MUTANTS.slice(0, 1) : MUTANTS)(
  "the exploration finds: $bug",
  { timeout },
  async (mutant) => {
    const { code, said } = await runMutated(
      [mutant],
      "exploration/explore-one.ts",
      mutant.scenario,
      String(mutant.faults),
    );
    expect(said).toContain(mutant.finds);
    expect(code).toBe(1);
    noteCounts({ "bugs put in by hand and found": 1 });
  },
);

if (MUTANT_SEEDS !== undefined) {
  test(`${MUTANT_SEEDS} random seeds miss all of these bugs together`, { timeout }, async () => {
    expect(await runMutated(MUTANTS, "exploration/run-seeds.ts", MUTANT_SEEDS)).toEqual({
      code: 0,
      said: `${MUTANT_SEEDS} seeds passed\n`,
    });
    noteCounts({ "random seeds that miss them": Number(MUTANT_SEEDS) });
  });
}
