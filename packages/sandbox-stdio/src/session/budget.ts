// Limits how many messages and how much refused input a client may send. Two token buckets; the caller passes the time.
// Accepted input costs nothing here: other limits bound it.

import { TokenBucket } from "../output/token-bucket.ts";
import { KIB } from "../wire/constants.ts";

export type BudgetLimits = {
  readonly messagesPerSecond: number;
  /** Messages at once after a pause. */
  readonly messageBurst: number;
  readonly refusedBytesPerSecond: number;
  /** Bytes of refused input at once after a pause. */
  readonly refusedBurstBytes: number;
};

/** A client that stops at the first refusal has sent at most the 256 KiB that it may keep. */
export const DEFAULT_BUDGET: BudgetLimits = {
  messagesPerSecond: 200,
  messageBurst: 2_000,
  refusedBytesPerSecond: 64 * KIB,
  refusedBurstBytes: 256 * KIB,
};

/** Acknowledgements at this interval or longer are free, however little they acknowledge. */
const FREE_ACK_MS = 20;

/** The budget of one client over all its connections. */
export class Budget {
  readonly #messages: TokenBucket;
  readonly #refusedBytes: TokenBucket;
  #ackedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether its last input was accepted and it has not yielded since. */
  #mayType = false;
  /** Refused bytes that the client may have sent before it could learn of the refusal. */
  #freeBytes = 0;

  /** @param nowMs By the same clock as in the other methods. */
  constructor(limits: BudgetLimits, nowMs: number) {
    this.#messages = new TokenBucket(limits.messagesPerSecond, limits.messageBurst, nowMs);
    this.#refusedBytes = new TokenBucket(limits.refusedBytesPerSecond, limits.refusedBurstBytes, nowMs);
  }

  /**
   * Charges a message, with the bytes of its input that were refused. @param moreBytes Extra allowance of refused bytes at once.
   * @returns Whether the client may go on.
   */
  message(nowMs: number, refusedBytes = 0, moreBytes = 0): boolean {
    const hasMessages = this.#messages.take(1, nowMs);
    // A client that owes bytes may still send everything else.
    return (refusedBytes === 0 || this.#refusedBytes.take(refusedBytes, nowMs, moreBytes)) && hasMessages;
  }

  /** Whether its last input was accepted and it has not yielded since. */
  get mayType(): boolean {
    return this.#mayType;
  }

  /** Input was accepted, at no cost. */
  accepted(): void {
    this.#mayType = true;
  }

  /** The client gave up the right to type itself, so no refused input can be excused as in flight. */
  yielded(): void {
    this.#mayType = false;
    this.#freeBytes = 0;
  }

  /**
   * Input was refused. Bytes in flight when the right to type was taken are free (L10c).
   * @param inFlight How much the client may have sent before it could learn of the refusal, these bytes included.
   * @param moreBytes Extra allowance at once: for a returning client, this may be its first input here.
   * @returns Whether the client may go on.
   */
  refused(nowMs: number, bytes: number, inFlight: number, moreBytes = 0): boolean {
    if (this.#mayType) this.#freeBytes = Math.max(0, inFlight);
    this.#mayType = false;
    const free = Math.min(bytes, this.#freeBytes);
    this.#freeBytes -= free;
    return (bytes > 0 && free === bytes) || this.message(nowMs, bytes - free, moreBytes);
  }

  /** @param isWeighty Whether it frees 16 KiB or more, or a snapshot. @returns Whether the client may go on. */
  ack(nowMs: number, isWeighty: boolean): boolean {
    const isFree = isWeighty || nowMs - this.#ackedAtMs >= FREE_ACK_MS;
    this.#ackedAtMs = nowMs;
    return isFree || this.message(nowMs);
  }

  /** Whether it equals a new budget. */
  isRested(nowMs: number): boolean {
    return this.#messages.isFull(nowMs) && this.#refusedBytes.isFull(nowMs) && nowMs - this.#ackedAtMs >= FREE_ACK_MS;
  }

  /** Adds the charges of another connection, which had its own budget until its client was known. */
  join(early: Budget, nowMs: number): void {
    this.#messages.take(early.#messages.spent, nowMs);
    this.#refusedBytes.take(early.#refusedBytes.spent, nowMs);
  }
}
