// Many at one session, in virtual time: who keeps up is never skipped, and who does not costs the others next to nothing.

import { expect, test } from "vitest";
import { type Plan, planOf } from "./plan.ts";
import { SEEDS, SEEDS_TEXT } from "./seeds.ts";
import { Simulation } from "./simulation.ts";

/** A run is long: one seed of 29. The plans below differ by remainders of 2, 3, 4, 5 and 8, and so meet all of them. */
const FEW = SEEDS.filter((_, i) => i % 29 === 0);
const timeout = 600_000 + FEW.length * 1_000;
const OUTPUT_BYTES = 2_000_000;

/** A flood on a PTY to one or two drivers, now and then lossless, and three viewers on equal links, who take some time for each frame. */
function crowdPlan(seed: number): Plan {
  const plan = planOf(seed);
  const dealMs = [0, 0.5, 1, 2][seed % 4] ?? 0;
  const drivers = 1 + (seed % 2);
  const delivery = seed % 8 >= 6 ? ("lossless" as const) : ("live" as const);
  const parties = Array.from({ length: drivers + 3 }, (_, i) => ({
    ...{ who: i, role: i < drivers ? ("driver" as const) : ("viewer" as const) },
    ...{ delivery: i < drivers ? delivery : ("live" as const) },
    ...{ inputBytes: 1, pieceBytes: 1, pauseMs: 0, dealMs },
  }));
  return {
    ...plan,
    ...{
      keeps: undefined,
      hops: seed % 3 === 0 ? 1 : 2,
      mode: "collaborative",
      delivery,
      parties,
      plainCount: 0,
    },
    process: {
      ...plan.process,
      tty: true,
      outputBytes: OUTPUT_BYTES,
      chunkBytes: 60_000,
      sleepMs: 0.5,
      waitsForEof: true,
    },
    screen: { delayMs: 5, failing: 0, inexact: 0 },
    outer: { latencyMs: [0, 1, 20, 50][seed % 5] ?? 0, jitterMs: 2 * (seed % 2), bytesPerMs: 20_000 },
    inner: { latencyMs: 1, jitterMs: 1, bytesPerMs: 100_000 },
    ...{ logBytes: 1 << 20, faultsUntilMs: 10, faults: [], deafness: 0, isFirstLate: false, isRecorded: false },
  };
}

test("W7b, W7c: of equals nobody is ever skipped", { timeout }, () => {
  console.log(`every 29th of ${SEEDS_TEXT}`);
  for (const seed of FEW) {
    const { gapBytes } = new Simulation(crowdPlan(seed)).run();
    expect([seed, gapBytes]).toEqual([seed, 0]);
  }
});

test("W8b: a viewer that stops, or is far slower, is skipped alone, and stops nobody", { timeout }, () => {
  let slow = 0;
  for (const seed of FEW) {
    const plan = crowdPlan(seed);
    const others = plan.parties.slice(0, -1);
    const [laggard] = plan.parties.slice(-1);
    if (laggard === undefined) throw new Error("unreachable");
    const without = new Simulation({ ...plan, parties: others });
    without.run();
    const simulation = new Simulation({ ...plan, parties: [...others, { ...laggard, dealMs: 3_000 }] });
    simulation.run();
    const gaps = simulation.parties.map(({ gapBytes }) => gapBytes);
    slow += gaps.pop() ?? 0;
    expect([seed, ...gaps]).toEqual([seed, ...others.map(() => 0)]);
    const [alone = 0, beside = 0] = [without, simulation].map(({ bridge }) => bridge.process.writtenAtMs);
    expect([seed, beside < 1.25 * alone + 600]).toEqual([seed, true]);
  }
  expect(slow).toBeGreaterThan(FEW.length * 100_000);
});
