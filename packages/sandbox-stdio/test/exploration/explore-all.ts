// What the exploration's tests do with a scenario.

import { expect } from "vitest";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { Explorer } from "./explorer.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

const isWhole = process.env.EXPLORE === "whole";
/** For a run that hangs. */
export const TIMEOUT = isWhole ? 8 * 3_600_000 : 300_000;

/** Those that this run explores. */
export const EXPLORED = SCENARIOS.filter(({ isLong }) => isWhole || isLong !== true);

export function exploreAll({ name, plan, faults, together = 2 }: Scenario): void {
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
}
