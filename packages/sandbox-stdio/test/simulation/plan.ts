// What a seed stands for: who comes, over which links, to what kind of process, and which faults there are.

import { Random } from "../../../local/src/base/random.ts";
import { type Delivery, MAX_KEPT_INPUT_BYTES, type Mode } from "../../src/index.ts";
import type { ProcessPlan, ScreenPlan } from "./bridge.ts";
import type { LinkProfile } from "./network.ts";
import type { PartyPlan } from "./party.ts";

const FAULTS = [
  ...(["cut_outer", "cut_inner", "restart_relay", "restart_client", "stall", "resize", "keyboard"] as const),
  "viewer_leaves" as const,
];
export type Fault = (typeof FAULTS)[number];

export type Plan = {
  readonly seed: number;
  /** How much input the first client on pipes keeps, if it says so (I3b). */
  readonly keeps: number | undefined;
  /** 1: clients speak to the bridge itself. 2: through a Durable Object. */
  readonly hops: 1 | 2;
  readonly process: ProcessPlan;
  readonly screen: ScreenPlan;
  readonly mode: Mode;
  readonly delivery: Delivery;
  readonly parties: readonly PartyPlan[];
  readonly plainCount: number;
  readonly outer: LinkProfile;
  readonly inner: LinkProfile;
  readonly logBytes: number;
  /** Faults come until then. */
  readonly faultsUntilMs: number;
  readonly meanFaultMs: number;
  readonly faults: readonly Fault[];
  /** How often an end does not hear that its connection is gone. */
  readonly deafness: number;
  /** Whether the first driver comes as late as the others do. */
  readonly isFirstLate: boolean;
  /** Whether the Durable Object keeps a record of input, and acknowledges only what is in it. */
  readonly isRecorded: boolean;
  /** After so long without anything the Durable Object is parked; absent: never. */
  readonly parkMs?: number;
  /** A peer of an older version: a client that says neither which of its connections is newer nor what it has processed (R1, R10), or a
   * bridge that does not know of parking (H20). Absent: none. */
  readonly older?: "client" | "bridge";
};

const SIGNALLED = [
  { code: 143, signal: "SIGTERM" },
  { code: 137, signal: "SIGKILL" },
] as const;

/** What a seed stands for. `overrides` narrow it down. */
export function planOf(seed: number, overrides: Partial<Plan> = {}): Plan {
  const random = new Random(seed);
  // Apart from the rest: seeds that are known by number stay what they were.
  const screens = new Random(seed ^ 0x5c4ee);
  const tty = random.chance(0.4);
  const isLive = random.chance(tty ? 0.9 : 0.1);
  const delivery: Delivery = isLive ? "live" : "lossless";
  const isLarge = random.chance(0.1);
  const driverCount = random.pick([1, 1, 1, 1, 2, 2, 3]);
  const viewerCount = random.pick([0, 0, 0, 1, 2]);
  const faultsUntilMs = random.scale(2_000, 120_000);
  /** How long the work is to take: faults that come after it find nothing to break. */
  const workMs = faultsUntilMs * random.pick([0.05, 0.5, 1]);
  const link = (): LinkProfile => ({
    latencyMs: random.pick([0, 1, 5, 50, 100]),
    jitterMs: random.pick([0, 2, 30]),
    bytesPerMs: random.scale(100, 100_000),
  });
  const keeps = seed % 2 === 0 ? MAX_KEPT_INPUT_BYTES : undefined;
  const mostInput = keeps === undefined ? 600_000 : 3_000_000;
  const parties: PartyPlan[] = [];
  for (let i = 0; i < driverCount + viewerCount; i += 1) {
    const role = i < driverCount ? "driver" : "viewer";
    const inputBytes = role === "viewer" ? random.pick([0, 500]) : random.scale(1, isLarge ? mostInput : 60_000);
    const pieceBytes = Math.min(100_000, Math.ceil(inputBytes / random.scale(1, 60)));
    parties.push({
      who: i,
      role,
      delivery: role === "viewer" || random.chance(0.15) ? "live" : delivery,
      inputBytes,
      pieceBytes,
      pauseMs: (workMs * random.pick([0, 0, 0.5, 1]) * pieceBytes) / Math.max(1, inputBytes),
      dealMs: random.pick([0, 5, 40, 300]),
    });
  }
  const outputBytes = random.chance(0.05) ? 0 : random.scale(1, isLarge ? 3_000_000 : 400_000);
  const turns = random.scale(10, 150);
  const input = parties.reduce((sum, party) => sum + party.inputBytes, 0);
  return {
    seed,
    keeps,
    hops: random.chance(0.8) ? 2 : 1,
    process: {
      tty,
      outputBytes,
      chunkBytes: Math.ceil((2 * outputBytes) / turns),
      sleepMs: (workMs * random.pick([0.1, 1, 1])) / turns,
      readBytes: Math.ceil((input / turns) * random.pick([2, 10, 1_000])),
      pipeBytes: Math.max(Math.ceil((2 * input) / turns), random.pick([1, 300, 4_096, 65_536])),
      waitsForEof: random.chance(0.8),
      exit: random.chance(0.2) ? random.pick(SIGNALLED) : { code: random.int(0, 255) },
    },
    screen: {
      delayMs: screens.pick([0, 5, 50, 400]),
      failing: screens.pick([0, 0, 0, 0.1, 1]),
      inexact: screens.pick([0, 0, 0.3]),
    },
    mode: random.chance(0.15) ? "exclusive" : "collaborative",
    delivery,
    parties,
    plainCount: random.pick([0, 0, 0, 1, 2]),
    outer: link(),
    inner: random.chance(0.7) ? { latencyMs: 1, jitterMs: 1, bytesPerMs: 100_000 } : link(),
    // What is live may have a log that it outruns.
    logBytes:
      isLive && parties.every((party) => party.delivery === "live")
        ? random.pick([4_096, 65_536, 1_048_576])
        : 1_048_576,
    faultsUntilMs,
    meanFaultMs: faultsUntilMs / random.pick([3, 10, 50, 200]),
    faults: FAULTS.filter(() => random.chance(0.7)),
    deafness: random.pick([0, 0.05, 0.3, 0.6]),
    isFirstLate: random.chance(0.15),
    isRecorded: random.chance(0.5),
    ...overrides,
  };
}
