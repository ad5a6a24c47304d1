// Limits the bridge messages that are broadcast: each goes to up to 64 clients and counts in no window.
// A bridge taken over by a process must not fill the Durable Object's memory with them.

import { TokenBucket } from "../output/token-bucket.ts";
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

/** Messages of up to 1 KiB each: several people who drag their windows stay well below it. */
const HOP_MESSAGES = { perSecond: 1_000, burst: 4_000 };
const MESSAGE_CHARACTERS = 1_024;
/** The bridge sends one a second; several may have queued on the way. Each may call the tenant's webhook. */
const HOP_ATTENTIONS = { perSecond: 1, burst: 8 };

/** The remaining allowance of one connection to the bridge. */
export class HopAllowance {
  readonly #messages: TokenBucket;
  readonly #attentions: TokenBucket;

  constructor(nowMs: number) {
    this.#messages = new TokenBucket(HOP_MESSAGES.perSecond, HOP_MESSAGES.burst, nowMs);
    this.#attentions = new TokenBucket(HOP_ATTENTIONS.perSecond, HOP_ATTENTIONS.burst, nowMs);
  }

  /** Counts a message of this length. @returns Whether it was allowed. */
  take(characters: number, nowMs: number): boolean {
    return this.#messages.takeIfLeft(Math.max(1, Math.ceil(characters / MESSAGE_CHARACTERS)), nowMs);
  }

  /** Counts an attention request. @returns Whether to announce it: an honest bridge sends no more often. */
  takeAttention(nowMs: number): boolean {
    return this.#attentions.takeIfLeft(1, nowMs);
  }
}
