// Limits the bridge messages that are broadcast: each goes to up to 64 clients and counts in no window.
// A bridge taken over by a process must not fill the Durable Object's memory with them.

import type { InnerMessage } from "../wire/inner-messages.ts";

/** Messages that are broadcast without a client's request. */
const BROADCAST: ReadonlySet<InnerMessage["type"]> = new Set([
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
 * Whether the bridge alone sets the rate of these messages: they neither count in a window nor answer a client.
 * @param received How much input of a client has been received; undefined if unknown.
 */
export function isAtBridgePace(message: InnerMessage, received: (client: string) => number | undefined): boolean {
  return message.type === "stdin_ack"
    ? message.offset > (received(message.client) ?? Number.POSITIVE_INFINITY)
    : BROADCAST.has(message.type);
}

/** A token bucket's rate and burst. */
type Rate = { readonly perSecond: number; readonly burst: number };

/** Messages of up to 1 KiB each: several people who drag their windows stay well below it. */
const HOP_MESSAGES: Rate = { perSecond: 1_000, burst: 4_000 };
const MESSAGE_CHARACTERS = 1_024;
/** The bridge sends one a second; several may have queued on the way. Each may call the tenant's webhook. */
const HOP_ATTENTIONS: Rate = { perSecond: 1, burst: 8 };

class Allowance {
  readonly #rate: Rate;
  #left: number;
  #atMs: number;

  constructor(pace: Rate, nowMs: number) {
    this.#rate = pace;
    this.#left = pace.burst;
    this.#atMs = nowMs;
  }

  /** @returns Whether `count` were left; if so, they are used up. */
  take(count: number, nowMs: number): boolean {
    const earned = (Math.max(0, nowMs - this.#atMs) * this.#rate.perSecond) / 1000;
    this.#left = Math.min(this.#rate.burst, this.#left + earned);
    this.#atMs = nowMs;
    if (this.#left < count) return false;
    this.#left -= count;
    return true;
  }
}

/** The remaining allowance of one connection to the bridge. */
export class HopAllowance {
  readonly #messages: Allowance;
  readonly #attentions: Allowance;

  constructor(nowMs: number) {
    this.#messages = new Allowance(HOP_MESSAGES, nowMs);
    this.#attentions = new Allowance(HOP_ATTENTIONS, nowMs);
  }

  /** Counts a message of this length. @returns Whether it was allowed. */
  take(characters: number, nowMs: number): boolean {
    return this.#messages.take(Math.max(1, Math.ceil(characters / MESSAGE_CHARACTERS)), nowMs);
  }

  /** Counts an attention request. @returns Whether to announce it: an honest bridge sends no more often. */
  takeAttention(nowMs: number): boolean {
    return this.#attentions.take(1, nowMs);
  }
}
