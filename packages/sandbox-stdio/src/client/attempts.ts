// Counts a client's connection attempts and decides when to retry. Told how each connection ended; sets no timer.

import type { Bye } from "../wire/control.ts";
import { backoffMs, decideRetry } from "./retry.ts";

/** After this long attached, the next break counts as the first again. */
const STABLE_MS = 5_000;
/** After a connection that moved bytes, however short, the next break counts as the second at most. */
const ATTEMPT_AFTER_PROGRESS = 1;
/** The client obeys a server's `bye` at most this often in a row, so that a server that always says `now` is not hammered. */
const TRUSTED_ATTEMPTS = 3;
/** Most time that one attempt and the wait before it count: a sleeping machine does not try. */
const MAX_ATTEMPT_MS = 300_000;
const MINUTE_MS = 60_000;

/** Describes how a connection ended. */
export type Break = {
  readonly code: number;
  readonly bye: Bye | undefined;
  /** Retry-After of an HTTP response to the upgrade. */
  readonly retryAfterSeconds: number;
  /** How long the client was attached; 0 if it was not. */
  readonly attachedMs: number;
  /** Whether any connection was greeted. */
  readonly wasGreeted: boolean;
  /** By a clock that runs evenly while the machine is awake. */
  readonly nowMs: number;
};

/** @see ClientOptions */
export type RetryLimits = { readonly firstAttempts?: number; readonly giveUpMs?: number };

export type NextAttempt =
  /** `words` precede the reason. */
  | { readonly kind: "never"; readonly words: string }
  /** At the next key press. */
  | { readonly kind: "on_input"; readonly attempt: number }
  | { readonly kind: "after"; readonly ms: number; readonly attempt: number };

export class Attempts {
  readonly #maxFirstAttempts: number;
  readonly #random: () => number;
  #count = 0;
  readonly #giveUpMs: number;
  #hasMoved = false;
  /** How long it has been trying since it was last attached. */
  #triedMs = 0;
  #brokenAtMs: number | undefined;

  /** @param random Returns 0 to 1. */
  constructor({ firstAttempts, giveUpMs }: RetryLimits, random: () => number) {
    this.#maxFirstAttempts = firstAttempts ?? Number.POSITIVE_INFINITY;
    this.#giveUpMs = giveUpMs ?? Number.POSITIVE_INFINITY;
    this.#random = random;
  }

  /** Failed attempts in a row. */
  get count(): number {
    return this.#count;
  }

  /** The connection has moved a byte in either direction. */
  noteProgress(): void {
    this.#hasMoved = true;
  }

  next({ code, bye, retryAfterSeconds, attachedMs, wasGreeted, nowMs }: Break): NextAttempt {
    const triedMs = this.#try(attachedMs, nowMs);
    if (attachedMs >= STABLE_MS) this.#count = 0;
    else if (this.#hasMoved) this.#count = Math.min(this.#count, ATTEMPT_AFTER_PROGRESS);
    this.#hasMoved = false;
    const attempt = this.#count;
    const decision = decideRetry(code, bye);
    const isHopeless = !wasGreeted && attempt + 1 >= this.#maxFirstAttempts;
    if (decision.kind === "never" || (decision.kind === "backoff" && isHopeless)) return { kind: "never", words: "" };
    if (decision.kind === "on_input") {
      this.#brokenAtMs = undefined;
      return { kind: "on_input", attempt };
    }
    if (triedMs >= this.#giveUpMs) return { kind: "never", words: `gave up after ${formatDuration(triedMs)}: ` };
    this.#count += 1;
    const least = decision.kind === "wait" ? decision.ms : retryAfterSeconds * 1000;
    const isTrusted = decision.kind === "wait" && attempt < TRUSTED_ATTEMPTS;
    const ms = isTrusted ? least : Math.max(least, backoffMs(attempt, this.#random()));
    return { kind: "after", ms, attempt };
  }

  /** @returns How long it has been trying to reconnect. */
  #try(attachedMs: number, nowMs: number): number {
    const sinceMs = nowMs - (this.#brokenAtMs ?? nowMs);
    this.#triedMs = attachedMs > 0 ? 0 : this.#triedMs + Math.min(sinceMs, MAX_ATTEMPT_MS);
    this.#brokenAtMs = nowMs;
    return this.#triedMs;
  }
}

function formatDuration(ms: number): string {
  return ms < 2 * MINUTE_MS ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / MINUTE_MS)} min`;
}
