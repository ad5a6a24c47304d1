// What a session of a run does, drawn by its seed: its kind of process and streams, who types, and who else looks on.

import type { Random } from "../../local/src/base/random.ts";
import type { SessionPlan } from "./session-run.ts";
import { chunksOf, type Work } from "./work.ts";

type Mode = "terminal" | "streams" | "echo" | "both";

/** How many pauses a session has, about, where sessions are to be parked. */
const PAUSES = 4;

export type Wishes = {
  /** About how many bytes it moves. */
  readonly bytes: number;
  /** How long its pauses are, in which it may be parked; 0: it has none. */
  readonly pauseMs: number;
  /** Whether programs type into some sessions, clients in dialects look on at some, and some have pauses; else all have. */
  readonly isMixed: boolean;
};

export function planSession(session: string, random: Random, { bytes, pauseMs, isMixed }: Wishes): SessionPlan {
  const plan = planStreams(session, random, bytes, isMixed && random.chance(0.6) ? 0 : pauseMs);
  if (!isMixed) return plan;
  return {
    ...plan,
    isCalled: plan.work.input === "echo" && random.chance(0.4),
    // A gap says which bytes are missing only if there is a single stream.
    ...(random.chance(0.5) && (plan.tty || plan.work.input === "echo") ? { guest: plan.tty ? "addon" : "plain" } : {}),
  };
}

function planStreams(session: string, random: Random, bytes: number, pauseMs: number): SessionPlan {
  const mode = random.weighted<Mode>([
    ["terminal", 3],
    ["streams", 2],
    ["echo", 3],
    ["both", 3],
  ]);
  const length = () => random.int(Math.round(bytes / 2), Math.round(bytes * 1.5));
  const base = { seed: random.int(0, 0xffff_ffff), chunkBytes: random.scale(64, 65_536) };
  const lagMs = random.chance(0.3) ? random.scale(1, 30) : 0;
  // So slow that most breaks find it idle.
  const rate = random.chance(0.2) ? { bytesPerSecond: random.scale(100_000, 1_000_000) } : {};
  const work = (rest: Pick<Work, "outputBytes" | "stderrShare" | "input" | "inputBytes">): Work => {
    const all = { ...base, ...rate, ...rest };
    if (pauseMs === 0) return all;
    const chunks = Math.ceil([...chunksOf(all)].length / PAUSES);
    return { ...all, pause: { chunks: Math.max(1, chunks), ms: pauseMs } };
  };
  switch (mode) {
    case "terminal":
      return {
        session,
        tty: true,
        // A client that is alone paces its process either way. But no process waits for one of a live session that has not yet
        // said a word: so it says one at the beginning.
        delivery: random.chance(0.5) ? "live" : "lossless",
        work: work({ outputBytes: length(), stderrShare: 0, input: "go", inputBytes: 1 }),
        lagMs,
      };
    case "streams":
      return {
        session,
        tty: false,
        delivery: "lossless",
        work: work({ outputBytes: length(), stderrShare: random.next(), input: "none", inputBytes: 0 }),
        lagMs,
      };
    case "echo":
      return {
        session,
        tty: false,
        delivery: "lossless",
        work: work({ outputBytes: 0, stderrShare: 0, input: "echo", inputBytes: Math.round(length() / 2) }),
        lagMs,
      };
    case "both":
      return {
        session,
        tty: false,
        delivery: "lossless",
        work: work({
          outputBytes: Math.round(length() / 2),
          stderrShare: random.next() / 2,
          input: "check",
          inputBytes: Math.round(length() / 2),
        }),
        lagMs,
      };
  }
}
