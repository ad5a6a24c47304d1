// Decides after which closes a client reconnects, and how long it waits. Randomness is an argument.

import { CLOSE } from "../wire/constants.ts";
import type { Bye } from "../wire/control.ts";

/** What to do after a connection ended without an `exit`. */
export type RetryDecision =
  | { readonly kind: "backoff" }
  | { readonly kind: "wait"; readonly ms: number }
  /** The session is asleep: reconnect on a key press. */
  | { readonly kind: "on_input" }
  | { readonly kind: "never" };

/** Includes 1000: without an `exit` or `bye` before it, it only means that the connection is gone. */
const COME_BACK: readonly number[] = [
  CLOSE.normal,
  CLOSE.goingAway,
  1005,
  1006,
  CLOSE.internal,
  CLOSE.restart,
  CLOSE.tryLater,
  CLOSE.tooMany,
  CLOSE.unavailable,
];

/** @param bye The server's `bye`, if any: it takes precedence over the code. */
export function decideRetry(closeCode: number, bye: Bye | undefined): RetryDecision {
  const code = bye?.code ?? closeCode;
  if (code === CLOSE.idle) return { kind: "on_input" };
  if (bye?.retry === "never") return { kind: "never" };
  if (bye?.retry === "now") return { kind: "wait", ms: 0 };
  if (bye?.retry === "after" && bye.seconds !== undefined) return { kind: "wait", ms: Math.max(0, bye.seconds * 1000) };
  if (bye?.retry === "after" || COME_BACK.includes(code)) return { kind: "backoff" };
  return { kind: "never" };
}

export const BACKOFF_BASE_MS = 200;
export const BACKOFF_CAP_MS = 15_000;

/**
 * Exponential backoff with full jitter (0 to the cap of this attempt), so that clients that lost the same server do not reconnect
 * together.
 * @param attempt 0 for the first. @param random From 0 to 1.
 */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(attempt, 16));
}
