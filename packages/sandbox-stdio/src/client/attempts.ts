// How often a client has tried to connect, and when it tries again. Told how each connection went; keeps no timer.

import type { Bye } from "../wire/control.ts";
import { backoffMs, decideRetry } from "./retry.ts";

/** Attached for this long, the next break counts as the first again. */
const STABLE_MS = 5_000;
/** A connection that moved bytes was worth making, however short: the next break counts as the second at most. */
const ATTEMPT_AFTER_PROGRESS = 1;
/** What the server asks for is kept to so often in a row: a server that says `now` each time is not hammered. */
const TRUSTED_ATTEMPTS = 3;

/** How a connection ended. */
export type Break = {
  readonly code: number;
  readonly bye: Bye | undefined;
  /** What an HTTP answer in place of a connection has asked for. */
  readonly retryAfterSeconds: number;
  /** How long the client was attached; 0 if it never was. */
  readonly attachedMs: number;
  /** Whether an earlier connection was greeted. */
  readonly wasGreeted: boolean;
};

export type NextAttempt =
  | { readonly kind: "never" }
  /** At the next key. */
  | { readonly kind: "on_input"; readonly attempt: number }
  | { readonly kind: "after"; readonly ms: number; readonly attempt: number };

export class Attempts {
  readonly #most: number;
  readonly #random: () => number;
  #count = 0;
  #hasMoved = false;

  /** @param most @see ClientOptions.firstAttempts @param random From 0 to 1. */
  constructor(most: number, random: () => number) {
    this.#most = most;
    this.#random = random;
  }

  /** Attempts in a row that came to nothing. */
  get count(): number {
    return this.#count;
  }

  /** The connection has moved a byte in either direction. */
  noteProgress(): void {
    this.#hasMoved = true;
  }

  next({ code, bye, retryAfterSeconds, attachedMs, wasGreeted }: Break): NextAttempt {
    if (attachedMs >= STABLE_MS) this.#count = 0;
    else if (this.#hasMoved) this.#count = Math.min(this.#count, ATTEMPT_AFTER_PROGRESS);
    this.#hasMoved = false;
    const attempt = this.#count;
    const decision = decideRetry(code, bye);
    const isHopeless = !wasGreeted && attempt + 1 >= this.#most;
    if (decision.kind === "never" || (decision.kind === "backoff" && isHopeless)) return { kind: "never" };
    if (decision.kind === "on_input") return { kind: "on_input", attempt };
    this.#count += 1;
    const least = decision.kind === "wait" ? decision.ms : retryAfterSeconds * 1000;
    const isTrusted = decision.kind === "wait" && attempt < TRUSTED_ATTEMPTS;
    const ms = isTrusted ? least : Math.max(least, backoffMs(attempt, this.#random()));
    return { kind: "after", ms, attempt };
  }
}
