// Every placement of faults in small exchanges: see explorer.ts. `npm test` places one plain fault, `EXPLORE=whole` (test:long) one
// of all kinds, and each two plain ones; of single bytes one.

import { expect, test } from "vitest";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { Explorer } from "./explorer.ts";
import { SCENARIOS } from "./scenarios.ts";

const isWhole = process.env.EXPLORE === "whole";
/** For a run that hangs. */
const timeout = isWhole ? 4 * 3_600_000 : 300_000;

test.each(SCENARIOS)(
  "$name: whatever breaks wherever, all promises hold",
  { timeout },
  ({ name, plan, faults, together = 2 }) => {
    const plain = faults.filter(({ isPlain }) => isPlain);
    const parts = isWhole
      ? ([
          [faults, 1],
          [plain, together],
        ] as const)
      : ([[plain, 1]] as const);
    for (const [menu, most] of parts) {
      const explored = new Explorer(plan, menu).explore(most);
      console.log(`${name}, ${menu.length} faults, up to ${most} in a run: ${JSON.stringify(explored)}`);
      noteCounts({ executions: explored.runs, states: explored.states });
      expect(explored.states).toBeGreaterThan(5_000);
    }
  },
);

test("an exploration is the same each time", () => {
  const [scenario] = SCENARIOS;
  if (scenario === undefined) throw new Error("nothing to explore");
  const menu = scenario.faults.filter(({ isPlain }) => isPlain).slice(0, 3);
  const explore = () => new Explorer(scenario.plan, menu).explore(1);
  expect(explore()).toEqual(explore());
});
