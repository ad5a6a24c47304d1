// When the collector is asked to look after starts.
import { expect, test } from "vitest";
import { Leftovers } from "../../src/server/registry.ts";

test("each 32nd start asks for the collector, and none between", () => {
  let looks = 0;
  const leftovers = new Leftovers(() => {
    looks += 1;
  });
  const seen = Array.from({ length: 65 }, () => {
    leftovers.started();
    return looks;
  });
  expect([seen[30], seen[31], seen[62], seen[63], seen[64]]).toEqual([0, 1, 1, 2, 2]);
});
