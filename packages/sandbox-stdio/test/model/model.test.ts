// The model of streams, visited whole within bounds: every rule is needed, and with all of them no promise breaks. `MODEL=whole`
// (test:long) visits larger ones.

import { expect, test } from "vitest";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { check } from "./checker.ts";
import { type Bounds, type Rule, streamModel } from "./stream.ts";

const OUTPUT = { output: 3, input: 0, window: 1, log: 2, faults: 2, losses: 0 };
const BOTH = { output: 1, input: 1, window: 1, log: 2, faults: 1, losses: 1 };
const PARKED = { output: 2, input: 1, window: 1, log: 2, faults: 0, losses: 0 };
const WHOLE = [
  { output: 4, input: 0, window: 1, log: 2, faults: 2, losses: 0 },
  { output: 3, input: 1, window: 2, log: 3, faults: 2, losses: 0 },
  { output: 2, input: 2, window: 1, log: 2, faults: 1, losses: 1 },
  { output: 1, input: 2, window: 1, log: 2, faults: 2, losses: 0 },
  { output: 6, input: 0, window: 2, log: 3, faults: 2, losses: 0 },
];
const timeout = 3_600_000;

test.each(process.env.MODEL === "whole" ? [OUTPUT, BOTH, PARKED, ...WHOLE] : [OUTPUT, BOTH, PARKED])(
  "nothing is lost or doubled, the exit is last, and all goes on: %o",
  { timeout },
  (bounds) => {
    const checked = check(streamModel(bounds));
    console.log(JSON.stringify({ ...bounds, ...checked }));
    noteCounts({ states: checked.states, steps: checked.steps });
    expect(checked.violation).toBeUndefined();
    expect(checked.states).toBeGreaterThan(1_000);
  },
);

test.each<[Rule, string, Bounds]>([
  ["what was received and not processed stays in flight", "output is lost", OUTPUT],
  ["the process waits for the window", "output is lost", OUTPUT],
  ["duplicates are dropped", "input is doubled", BOTH],
  ["input is sent again after a break of the inner hop", "it can't go on", BOTH],
  ["input is settled when it is taken", "input is settled that was not taken", BOTH],
  ["the exit comes after the last byte", "the exit came before the last byte", BOTH],
  ["a resume names its incarnation", "output that was never written", BOTH],
  ["the copy goes on where it ended", "the copy of the log is not the log", BOTH],
  ["the bridge calls an object that has parked", "it can't go on", BOTH],
  ["a later word calls the parking off", "it can't go on", PARKED],
])("without the rule that %s: %s", (rule, what, bounds) => {
  expect(check(streamModel(bounds, rule)).violation?.what).toBe(what);
  noteCounts({ "rules broken and found": 1 });
});
