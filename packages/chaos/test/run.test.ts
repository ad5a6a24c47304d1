// A small run of the whole kit on a whole local system. `npm run chaos` is the same, larger.

import { expect, test } from "vitest";
import { BREAK_KINDS } from "../src/faults.ts";
import { localGround } from "../src/ground.ts";
import { Run } from "../src/run.ts";

const CUTS = 100;
const ABORTS = 5;
/** Fixed, so that a failure can be looked into; other seeds are what `npm run chaos` is for. */
const SEED = 20_261_120;

test("no byte is lost, doubled or reordered by 100 cuts on both hops, 5 aborted Durable Objects and a killed Worker", async () => {
  const lines: string[] = [];
  const run = new Run({
    seed: SEED,
    cuts: CUTS,
    aborts: ABORTS,
    kills: 1,
    losses: 0,
    isMixed: true,
    reloads: 4,
    parallel: 6,
    speed: 10,
    sessionBytes: 300_000,
    limitMs: 1_000_000,
    stuckMs: 400_000,
    pauseMs: 0,
    log: (line) => lines.push(line),
  });
  const startedAt = performance.now();
  const ground = await localGround({ speed: 10, parkSeconds: 0 }, (hop) => run.hop(hop));
  let faults: readonly string[] | undefined;
  const isGood = await run.on(ground).finally(() => {
    faults = ground.faults?.();
    return ground.close();
  });

  const { tally } = run;
  const report = `seed ${SEED}\n${lines.join("\n")}\n${tally.report((performance.now() - startedAt) / 1000)}`;
  expect(tally.damage, report).toEqual({ lost: 0, doubled: 0, reordered: 0, foreign: 0 });
  expect(isGood, report).toBe(true);
  expect(faults).toEqual([]);
  expect([tally.cuts, tally.kills], report).toEqual([CUTS, 1]);
  // An abort finds nobody where all sessions have just ended.
  expect(tally.aborts, report).toBeGreaterThanOrEqual(ABORTS - 1);
  for (const hop of ["outer", "inner"] as const) {
    expect(tally.cutsOf(hop), report).toBeGreaterThan(CUTS / 10);
  }
  // Few cuts: one hop may have none by chance.
  expect(tally.twins.outer + tally.twins.inner, report).toBeGreaterThan(0);
  for (const kind of BREAK_KINDS) {
    expect(tally.cutsOf("outer", kind) + tally.cutsOf("inner", kind), report).toBeGreaterThan(0);
  }
  // On a busy machine most connections break before they are greeted.
  expect(tally.resumes, report).toBeGreaterThan(0);
}, 1_200_000);
