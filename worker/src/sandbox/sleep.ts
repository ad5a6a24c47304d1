// When a container sleeps: SLEEP_AFTER after its last session is gone. Pure: both kinds of container object ask this.

import { parseListings } from "sandbox-stdio/core";
import { SLEEP_AFTER } from "./containers.ts";
import type { BridgeAnswer } from "./question.ts";

const UNIT_MS: Readonly<Record<string, number>> = { "": 1_000, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of SLEEP_AFTER: seconds, or a number with s, m or h. An unreadable setting is the default. */
export function sleepAfterMs(setting: string | undefined): number {
  const [, count, unit] = /^(\d+)([smh]?)$/.exec(setting || SLEEP_AFTER) ?? [];
  return count === undefined ? sleepAfterMs(undefined) : Number(count) * (UNIT_MS[unit ?? ""] ?? 1_000);
}

/**
 * The meaning of a bridge's answer about its sessions for its container: how long it stays before it is asked again;
 * 0: nothing is left to wait for.
 */
export function staysMs(answer: BridgeAnswer | undefined, afterMs: number): number {
  // Without an answer the sessions are unknown. The same holds for one too long to read, and for a bridge that is stopping.
  if (answer?.text === undefined || answer.status >= 500) return afterMs;
  // A stranger in the bridge's place keeps nothing.
  if (answer.status !== 200) return 0;
  // An exit that was told is kept in the bridge for a while, and holds no container: the session's object has it.
  const sessions = parseListings(answer.text) ?? [];
  if (sessions.some(({ state }) => state === "running")) return afterMs;
  const idleMs = idleMsOf(answer.text) ?? (sessions.length > 0 ? 0 : Number.POSITIVE_INFINITY);
  return Math.max(0, afterMs - idleMs);
}

/** For how long the container has been idle. A bridge of an older image does not say. */
function idleMsOf(text: string): number | undefined {
  const { idleMs } = JSON.parse(text) as { idleMs?: unknown };
  return typeof idleMs === "number" && idleMs >= 0 ? idleMs : undefined;
}
