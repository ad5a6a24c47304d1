// How often a bridge may send messages that clients are told at once: each goes to up to 64 of them and counts in no window.
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
  "command_end",
]);

/**
 * Whether clients are told of it at the bridge's own pace: not in a window, and not once for each thing that they said.
 * @param received How much input of a client there was; undefined if it is not known.
 */
export function isAtItsPace(message: InnerMessage, received: (client: string) => number | undefined): boolean {
  return message.type === "stdin_ack"
    ? message.offset > (received(message.client) ?? Number.POSITIVE_INFINITY)
    : TOLD_ON.has(message.type);
}

/** Messages a second, for ever: several people who drag their windows at once are well below it. */
const HOP_MESSAGES_PER_SECOND = 1_000;
/** Messages at once. */
const HOP_MESSAGES_BURST = 4_000;

export class HopAllowance {
  #left = HOP_MESSAGES_BURST;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** Counts one. @returns Whether it was allowed. */
  take(nowMs: number): boolean {
    const earned = (Math.max(0, nowMs - this.#atMs) * HOP_MESSAGES_PER_SECOND) / 1000;
    this.#left = Math.min(HOP_MESSAGES_BURST, this.#left + earned);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
