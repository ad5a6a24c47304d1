// How much a bridge may say that clients are told at once: each message goes to up to 64 of them and counts in no window.
// A bridge that a process has taken over must not fill the memory of the Durable Object with them.

import type { InnerMessage } from "../wire/inner-messages.ts";

/** The messages that clients are told of without having said anything. */
const TOLD_ON: ReadonlySet<InnerMessage["type"]> = new Set([
  "resize",
  "gap",
  "error",
  "bye",
  "attention",
  "panes",
  "stopping",
  "title",
  "echo",
  "command_end",
]);

/**
 * Whether clients are told of it at the bridge's own pace: not in a window, and not once for each thing that they said.
 * @param received How much input of a client there was; undefined if it is not known.
 */
export function isAtBridgePace(message: InnerMessage, received: (client: string) => number | undefined): boolean {
  return message.type === "stdin_ack"
    ? message.offset > (received(message.client) ?? Number.POSITIVE_INFINITY)
    : TOLD_ON.has(message.type);
}

/** How often something may come: so many at once, and so many a second for ever. */
type Pace = { readonly perSecond: number; readonly burst: number };

/** Messages, of a KiB each: several people who drag their windows at once are well below it. */
const HOP_MESSAGES: Pace = { perSecond: 1_000, burst: 4_000 };
const MESSAGE_CHARACTERS = 1_024;
/** One a second is called for; on their way several may have waited. Each may become a call of the tenant's webhook. */
const HOP_ATTENTIONS: Pace = { perSecond: 1, burst: 8 };

class Allowance {
  readonly #pace: Pace;
  #left: number;
  #atMs: number;

  constructor(pace: Pace, nowMs: number) {
    this.#pace = pace;
    this.#left = pace.burst;
    this.#atMs = nowMs;
  }

  /** @returns Whether so many were left, which are counted then. */
  take(count: number, nowMs: number): boolean {
    const earned = (Math.max(0, nowMs - this.#atMs) * this.#pace.perSecond) / 1000;
    this.#left = Math.min(this.#pace.burst, this.#left + earned);
    this.#atMs = nowMs;
    if (this.#left < count) return false;
    this.#left -= count;
    return true;
  }
}

/** What one connection to the bridge may still say at its own pace. */
export class HopAllowance {
  readonly #messages: Allowance;
  readonly #attentions: Allowance;

  constructor(nowMs: number) {
    this.#messages = new Allowance(HOP_MESSAGES, nowMs);
    this.#attentions = new Allowance(HOP_ATTENTIONS, nowMs);
  }

  /** Counts a message of so many characters. @returns Whether it was allowed. */
  take(characters: number, nowMs: number): boolean {
    return this.#messages.take(Math.max(1, Math.ceil(characters / MESSAGE_CHARACTERS)), nowMs);
  }

  /** Counts a call for attention. @returns Whether anybody is told: a bridge of ours calls no more often. */
  takeAttention(nowMs: number): boolean {
    return this.#attentions.take(1, nowMs);
  }
}
