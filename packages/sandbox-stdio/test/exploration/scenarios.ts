// Small exchanges to explore: a few bytes each way, on all kinds of sessions.

import type { PartyPlan } from "../simulation/party.ts";
import { type Plan, planOf } from "../simulation/plan.ts";
import type { Fault } from "./explorer.ts";
import { allFaults, keyboardMoves, reloads } from "./faults.ts";

export type Scenario = {
  readonly name: string;
  readonly plan: Plan;
  readonly faults: readonly Fault[];
  /** How many plain faults the whole exploration places in one run. Absent: two. */
  readonly together?: number;
  /** Left to `test:long`: in `npm test` another scenario has such a driver. */
  readonly isLong?: boolean;
};

const DRIVER: PartyPlan = {
  ...{ who: 0, role: "driver", delivery: "lossless", inputBytes: 4, pieceBytes: 2, pauseMs: 10, dealMs: 4 },
};

const LINK = { latencyMs: 3, jitterMs: 0, bytesPerMs: 1_000_000 };

function exchange(process: Partial<Plan["process"]>, over: Partial<Plan> = {}): Plan {
  const base = planOf(1);
  return {
    ...base,
    ...{ keeps: undefined, hops: 2, mode: "collaborative", delivery: "lossless", parties: [DRIVER], plainCount: 0 },
    process: {
      ...{ tty: false, outputBytes: 6, chunkBytes: 3, sleepMs: 50, readBytes: 100, pipeBytes: 3 },
      ...{ waitsForEof: true, exit: { code: 7 }, isWatched: true },
      ...process,
    },
    screen: { delayMs: 2, failing: 0, inexact: 0 },
    outer: LINK,
    inner: { ...LINK, latencyMs: 2 },
    logBytes: 65_536,
    faultsUntilMs: 10,
    // Named for what the promises allow; they come from the explorer alone.
    ...{ meanFaultMs: 1e12, faults: ["restart_relay"], deafness: 0, isFirstLate: false, isRecorded: false },
    ...over,
  };
}

const pty = { tty: true };
const live: PartyPlan = { ...DRIVER, delivery: "live" };
const second: PartyPlan = { ...DRIVER, who: 1, inputBytes: 2 };
const viewer: PartyPlan = { ...live, who: 1, role: "viewer", inputBytes: 0 };

/** The model (test/model) has no empty screens. */
const TRACED_FAULTS = allFaults(1).filter(({ isPlain, name }) => isPlain && !name.includes("empty true"));
const FEW_BYTES = { outputBytes: 2, chunkBytes: 1, pipeBytes: 1 };
/** Bytes that one unit of the model stands for, in the scenarios about the window. */
export const UNIT_BYTES = 8_192;

/** The scenarios that are replayed in the model: so small that it can try all of its internal steps. */
export const TRACED = {
  bytes: {
    name: "a driver on pipes, of few bytes",
    plan: exchange(FEW_BYTES, { parties: [{ ...DRIVER, inputBytes: 2, pieceBytes: 1 }] }),
    faults: TRACED_FAULTS,
  },
  parked: {
    name: "a driver on pipes that is parked",
    plan: exchange(
      { ...FEW_BYTES, sleepMs: 3_000 },
      { parties: [{ ...DRIVER, inputBytes: 1, pieceBytes: 1, pauseMs: 1_200 }], parkMs: 40 },
    ),
    faults: TRACED_FAULTS,
  },
  held: {
    name: "a driver on pipes that reads slowly, with the smallest log",
    plan: exchange(
      { outputBytes: 7 * UNIT_BYTES, chunkBytes: UNIT_BYTES },
      { parties: [{ ...DRIVER, inputBytes: 0, dealMs: 1_000 }], logBytes: 65_536 },
    ),
    faults: TRACED_FAULTS,
  },
} satisfies Record<string, Scenario>;

export const SCENARIOS: readonly Scenario[] = [
  { name: "a driver on pipes", plan: exchange({}), faults: allFaults(1), isLong: true },
  {
    name: "a driver on pipes, with a record of input",
    plan: exchange({ outputBytes: 3 }, { isRecorded: true }),
    faults: allFaults(1),
  },
  {
    name: "a driver on pipes, byte by byte",
    plan: exchange({ chunkBytes: 1, pipeBytes: 1 }, { parties: [{ ...DRIVER, pieceBytes: 1 }] }),
    faults: allFaults(1),
    together: 1,
    isLong: true,
  },
  {
    name: "a driver on a PTY that is parked",
    plan: exchange(
      { ...pty, sleepMs: 3_000 },
      { delivery: "live", parties: [{ ...live, pauseMs: 1_200 }], parkMs: 40 },
    ),
    faults: allFaults(1),
  },
  {
    name: "a page that hands its input on, by a clock that jumps",
    plan: exchange({ outputBytes: 3 }),
    // A page starts with nothing: its program keeps no input that a restart with its memory could hand on twice.
    faults: [...allFaults(1).filter(({ name }) => !name.includes("empty false")), ...reloads(0)],
  },
  {
    name: "a driver on pipes, of an older version",
    plan: exchange({ outputBytes: 3 }, { older: "client" }),
    faults: allFaults(1),
  },
  {
    name: "a driver on a PTY, whose bridge is of an older version",
    plan: exchange(
      { ...pty, sleepMs: 3_000 },
      { older: "bridge", delivery: "live", parties: [{ ...live, pauseMs: 1_200 }], parkMs: 40 },
    ),
    faults: allFaults(1),
    together: 1,
  },
  {
    name: "two drivers on pipes",
    plan: exchange({ outputBytes: 3 }, { parties: [{ ...DRIVER, inputBytes: 2 }, second] }),
    faults: allFaults(2),
  },
  {
    name: "a holder and a viewer of an exclusive PTY",
    plan: exchange(
      { ...pty, outputBytes: 3 },
      { mode: "exclusive", delivery: "live", parties: [{ ...live, inputBytes: 2 }, viewer] },
    ),
    faults: [...allFaults(2), ...keyboardMoves(0)],
  },
];
