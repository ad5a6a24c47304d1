// Every placement of faults in small exchanges of one client: see explorer.ts. `npm test` places one plain fault in some of them,
// `EXPLORE=whole` (test:long) in all one of all kinds, and each two plain ones; of single bytes, and beside an older bridge, one. The
// other files have those of two clients.

import { expect, test } from "vitest";
import { EXPLORED, exploreAll, TIMEOUT } from "./explore-all.ts";
import { Explorer } from "./explorer.ts";
import { SCENARIOS } from "./scenarios.ts";

const alone = EXPLORED.filter(({ plan }) => plan.parties.length === 1);

test.each(alone)("$name: whatever breaks wherever, all promises hold", { timeout: TIMEOUT }, exploreAll);

test("an exploration is the same each time", () => {
  const [scenario] = SCENARIOS;
  if (scenario === undefined) throw new Error("nothing to explore");
  const menu = scenario.faults.filter(({ isPlain }) => isPlain).slice(0, 3);
  const explore = () => new Explorer(scenario.plan, menu).explore(1);
  expect(explore()).toEqual(explore());
});
