// The faults of a connection: how its bytes are slowed down and cut into pieces, and how it ends. Drawn by a seed; knows
// no sockets.

import type { Random } from "../../local/src/base/random.ts";

/** `up`: from the side that connected. */
export type Direction = "up" | "down";

/** How a connection is broken. */
export type BreakKind =
  /** Both ends see a reset. */
  | "rst"
  /** Both ends see an orderly end, in mid-frame. */
  | "fin"
  /** Nothing arrives any more in either direction, and neither end is told: a half-open connection. */
  | "silent"
  /** The same in one direction. */
  | "silent-up"
  | "silent-down"
  /** The connecting side sees a reset; what it had sent last arrives later, when it may have long come back. */
  | "late";

export const BREAK_KINDS: readonly BreakKind[] = ["rst", "fin", "silent", "silent-up", "silent-down", "late"];

export type Break = {
  readonly kind: BreakKind;
  /** Where: after so many bytes in one direction, the handshake included … */
  readonly direction: Direction;
  readonly bytes: number;
  /** … or when the connection is so old, if it is idle. */
  readonly orAfterMs: number;
  /** `late`: for how long the last bytes are gathered, and how long after the reset they arrive. */
  readonly gatherMs: number;
  readonly lateMs: number;
};

/** The treatment of the bytes of one direction. */
export type LaneShape = {
  readonly delayMs: number;
  /** 0: no limit. */
  readonly bytesPerSecond: number;
  /** Written in random pieces of at most so many bytes; 0: as they come. */
  readonly pieceBytes: number;
  /** Once, nothing moves for a while. */
  readonly stall?: { readonly atByte: number; readonly ms: number } | undefined;
};

export type ConnectionPlan = {
  readonly up: LaneShape;
  readonly down: LaneShape;
  /** Absent: the connection is left to itself. */
  readonly break?: Break;
  /** The handshake is played twice: an older connection without a reader is of the same client. */
  readonly hasTwin: boolean;
};

export const OPEN_LANE: LaneShape = { delayMs: 0, bytesPerSecond: 0, pieceBytes: 0 };
export const OPEN_PLAN: ConnectionPlan = { up: OPEN_LANE, down: OPEN_LANE, hasTwin: false };

/** How often what happens. */
export type FaultProfile = {
  readonly kinds: readonly (readonly [BreakKind, number])[];
  /** Part of the connections that are delayed, limited, cut into pieces or stalled, each. */
  readonly shaped: number;
  readonly twins: number;
  /** A connection is broken after so many bytes at most. */
  readonly bytes: number;
  /** … or after so long at most. */
  readonly ageMs: number;
};

export const DEFAULT_PROFILE: FaultProfile = {
  kinds: [
    ["rst", 40],
    ["fin", 25],
    ["late", 17],
    ["silent", 6],
    ["silent-up", 6],
    ["silent-down", 6],
  ],
  shaped: 0.15,
  twins: 0.1,
  bytes: 200 * 1024,
  ageMs: 2_000,
};

/** For clients with real clocks: a connection that breaks silently holds them up for 40 s. */
export const REAL_TIME_PROFILE: FaultProfile = {
  ...DEFAULT_PROFILE,
  kinds: DEFAULT_PROFILE.kinds.map(([kind, weight]) => [kind, kind.startsWith("silent") ? 1 : weight] as const),
};

/** The same for each connection with the same seed and label, whatever happens to others. */
export function planConnection(random: Random, profile: FaultProfile): ConnectionPlan {
  const kind = random.weighted(profile.kinds);
  const direction = random.weighted<Direction>([
    ["up", 1],
    ["down", 2],
  ]);
  // Half of them early: in the handshake, the greeting, the first frames.
  const bytes = random.chance(0.5) ? random.scale(0, profile.bytes) : random.int(0, profile.bytes);
  return {
    up: planLane(random, profile),
    down: planLane(random, profile),
    break: {
      kind,
      direction,
      bytes,
      orAfterMs: random.chance(0.25) ? random.scale(10, profile.ageMs) : random.int(200, profile.ageMs),
      gatherMs: random.int(2, 60),
      lateMs: random.int(0, 400),
    },
    hasTwin: random.chance(profile.twins),
  };
}

function planLane(random: Random, profile: FaultProfile): LaneShape {
  const isShaped = () => random.chance(profile.shaped);
  return {
    delayMs: isShaped() ? random.scale(1, 40) : 0,
    bytesPerSecond: isShaped() ? random.scale(100_000, 8_000_000) : 0,
    pieceBytes: isShaped() ? random.scale(8, 8_192) : 0,
    stall: isShaped() ? { atByte: random.scale(0, profile.bytes), ms: random.scale(5, 500) } : undefined,
  };
}
