// The table of long runs: pieces of a part add up, over the revisions between which nothing has changed for it.
import { expect, test } from "vitest";
import { longTable } from "../pages/proof-page.ts";
import type { LongLine } from "../suites/ledger.ts";

const line = (over: Partial<LongLine>): LongLine => ({
  ...{ at: "2026-01-01T00:00:00.000Z", revision: "aaaaaaa11111", part: "fuzz", inputs: "one", seed: 1 },
  ...{ hasPassed: true, seconds: 90, counts: { inputs: 1_000 } },
  ...over,
});

test("pieces add up, a failed one counts for nothing, and a revision is new only if what the part depends on is", () => {
  const lines = [
    line({}),
    line({ seed: 2, revision: "bbbbbbb22222", counts: { inputs: 500, crashes: 0 } }),
    line({ seed: 3, revision: "ccccccc33333", inputs: "two" }),
    line({ seed: 4, hasPassed: false }),
    line({ part: "chaos", counts: { cuts: 7 }, seconds: 60 }),
  ];
  expect(longTable(lines).split("\n").slice(2)).toEqual([
    "| chaos | 1 | 0 | 7 cuts | 1 | 1 | aaaaaaa (1) |",
    "| fuzz | 3 | 1 | 2,500 inputs | 5 | 1, 2, 3 | aaaaaaa (2), ccccccc (1) |",
  ]);
});
