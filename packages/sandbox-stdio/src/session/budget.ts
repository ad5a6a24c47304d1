// How many messages, and how many bytes of refused input, a client may send. Two token buckets; told
// the time. Accepted input costs nothing here: other limits bound it.

import { KIB } from "../wire/constants.ts";

export type BudgetLimits = {
  readonly messagesPerSecond: number;
  /** Messages at once, after a pause. */
  readonly messageBurst: number;
  readonly refusedBytesPerSecond: number;
  /** Bytes of refused input at once, after a pause. */
  readonly refusedBurstBytes: number;
};

/** A client that stops at the first refusal has sent no more input than it may keep: 256 KiB. */
export const DEFAULT_BUDGET: BudgetLimits = {
  messagesPerSecond: 200,
  messageBurst: 2_000,
  refusedBytesPerSecond: 64 * KIB,
  refusedBurstBytes: 256 * KIB,
};

/** Acknowledgements that come so long after the one before cost nothing, however little they say. */
const FREE_ACK_MS = 20;

/** So many tokens come in a second, up to `capacity`. */
class Bucket {
  readonly #perMs: number;
  readonly #capacity: number;
  #level: number;
  #atMs: number;

  constructor(perSecond: number, capacity: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#capacity = capacity;
    this.#level = capacity;
    this.#atMs = nowMs;
  }

  /** Takes so many, also where they are not there. @param owed How many may be missing. @returns Whether no more were. */
  take(count: number, nowMs: number, owed = 0): boolean {
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = Math.max(this.#atMs, nowMs);
    this.#level = Math.min(this.#capacity, this.#level + passedMs * this.#perMs) - count;
    return this.#level >= -owed;
  }

  /** Whether all that was taken is there again. */
  isFull(nowMs: number): boolean {
    return this.#level + (nowMs - this.#atMs) * this.#perMs >= this.#capacity;
  }

  get spent(): number {
    return this.#capacity - this.#level;
  }
}

/** One client's, over all its connections. */
export class Budget {
  readonly #messages: Bucket;
  readonly #refusedBytes: Bucket;
  #ackedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether its last input was accepted, and it has not given up the right to type since. */
  #mayType = false;
  /** Bytes of the input that is refused now that the client may have sent before it could hear of that. */
  #unheardBytes = 0;

  /** @param nowMs Of the clock that the other methods are told the time of. */
  constructor(limits: BudgetLimits, nowMs: number) {
    this.#messages = new Bucket(limits.messagesPerSecond, limits.messageBurst, nowMs);
    this.#refusedBytes = new Bucket(limits.refusedBytesPerSecond, limits.refusedBurstBytes, nowMs);
  }

  /**
   * A message, of which `refusedBytes` were input that was refused. @param moreBytes How many more than others' may be refused at once.
   * @returns Whether the client may go on.
   */
  message(nowMs: number, refusedBytes = 0, moreBytes = 0): boolean {
    const hasMessages = this.#messages.take(1, nowMs);
    // Who owes bytes may go on with all else.
    return (refusedBytes === 0 || this.#refusedBytes.take(refusedBytes, nowMs, moreBytes)) && hasMessages;
  }

  /** Whether its last input was accepted, and it has not given up the right to type since. */
  get mayType(): boolean {
    return this.#mayType;
  }

  /** Input was accepted, which costs nothing. */
  accepted(): void {
    this.#mayType = true;
  }

  /** The client has given up the right to type, so it knows. */
  yielded(): void {
    this.#mayType = false;
    this.#unheardBytes = 0;
  }

  /**
   * Input was refused. Bytes that were on their way when the right to type was taken cost nothing (L10c).
   * @param onItsWay How much the client may have sent before it could hear of the refusal, these bytes included.
   * @param moreBytes How many more than others' may be refused at once: this may be the first that is heard of a client that comes back.
   * @returns Whether the client may go on.
   */
  refused(nowMs: number, bytes: number, onItsWay: number, moreBytes = 0): boolean {
    if (this.#mayType) this.#unheardBytes = Math.max(0, onItsWay);
    this.#mayType = false;
    const unheard = Math.min(bytes, this.#unheardBytes);
    this.#unheardBytes -= unheard;
    return (bytes > 0 && unheard === bytes) || this.message(nowMs, bytes - unheard, moreBytes);
  }

  /** @param isWeighty Whether it sets much free: 16 KiB or more, or a snapshot. @returns Whether the client may go on. */
  ack(nowMs: number, isWeighty: boolean): boolean {
    const isFree = isWeighty || nowMs - this.#ackedAtMs >= FREE_ACK_MS;
    this.#ackedAtMs = nowMs;
    return isFree || this.message(nowMs);
  }

  /** Whether a new one would be the same. */
  isRested(nowMs: number): boolean {
    return this.#messages.isFull(nowMs) && this.#refusedBytes.isFull(nowMs) && nowMs - this.#ackedAtMs >= FREE_ACK_MS;
  }

  /** The same client has another connection, which had a budget of its own until its client was known. */
  join(early: Budget, nowMs: number): void {
    this.#messages.take(early.#messages.spent, nowMs);
    this.#refusedBytes.take(early.#refusedBytes.spent, nowMs);
  }
}
