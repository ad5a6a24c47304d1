// How many bytes may be in flight to a reader of the log. Acknowledging clients have a window (window.ts); this file covers
// clients that can't acknowledge, and the inner hop as a whole.

import { KIB, MAX_FRAME_BYTES, MAX_SNAPSHOT_BYTES, MIB, MIN_WINDOW_BYTES, PLAIN_RATE } from "../wire/constants.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Less than the smallest window: clients need not acknowledge in smaller steps. */
export const WEIGHTY_ACK_BYTES = MIN_WINDOW_BYTES;

/** How much may be in flight to a reader. */
export interface Flow {
  readonly acked: number;
  /** Most bytes in flight. */
  readonly bytes: number;
  /** The part of `bytes` that the link itself holds: with this much in flight the link is full and nothing queues. */
  readonly linkBytes: number;
  /** Longest frame. */
  readonly frameBytes: number;
  room(cursor: number, nowMs: number): number;
  /** Whether so much is in flight that an acknowledgement comes without delay: a frame can wait for it. */
  isBusy(cursor: number): boolean;
  /** Whether a frame may also wait for more output to fill it. */
  readonly isPatient: boolean;
  noteFull(): void;
  sent(end: number, nowMs: number): void;
  /** @returns Whether this frees {@link WEIGHTY_ACK_BYTES} or more, or a snapshot. */
  ack(offset: number, nowMs: number): boolean;
  /** These bytes will never be sent. */
  skipped(from: number, to: number): void;
  /** Whether the reader acknowledged lately and has missed nothing for long, so that it is worth waiting for. */
  keepsUp(nowMs: number): boolean;
  /** Whether a snapshot, however long, may be sent now. */
  hasScreenRoom(cursor: number, nowMs: number): boolean;
  /** A snapshot was sent at this offset. */
  drew(offset: number, bytes: number): void;
}

/** A client that can't acknowledge: its bytes count as processed once its socket has them, at a limited rate. */
export class RatedFlow implements Flow {
  acked: number;
  readonly bytes: number = 64 * KIB;
  readonly linkBytes: number = 64 * KIB;
  readonly frameBytes = MAX_FRAME_BYTES;
  readonly isPatient = false;
  /** Longest burst at that rate; at least one snapshot. */
  static readonly burstMs = 100;
  readonly #bucket: TokenBucket;

  constructor(offset: number, nowMs: number, bytesPerSecond = PLAIN_RATE) {
    this.acked = offset;
    // At least one snapshot, which is sent whole or not at all.
    const burst = Math.max(MAX_SNAPSHOT_BYTES, (bytesPerSecond / 1000) * RatedFlow.burstMs);
    this.#bucket = new TokenBucket(bytesPerSecond, burst, nowMs);
  }

  room(_cursor: number, nowMs: number): number {
    return Math.floor(this.#bucket.left(nowMs));
  }
  isBusy(): boolean {
    return false; // Plain clients don't acknowledge.
  }
  noteFull(): void {
    // The rate says nothing about the link.
  }
  sent(end: number): void {
    this.#bucket.spend(end - this.acked);
    this.acked = end;
  }
  ack(): boolean {
    return false; // Plain clients don't acknowledge.
  }
  skipped(_from: number, to: number): void {
    this.acked = to;
  }
  keepsUp(): boolean {
    return false; // Unknown without acknowledgements.
  }
  hasScreenRoom(cursor: number, nowMs: number): boolean {
    return this.room(cursor, nowMs) >= MAX_SNAPSHOT_BYTES;
  }
  drew(_offset: number, bytes: number): void {
    this.#bucket.spend(bytes);
  }
}

/**
 * The inner hop, whose far end relays its clients' acknowledgements. While a client paces the process, only the socket limits
 * it. Otherwise the rate applies, or the buffers in between would fill with all that a process can write.
 */
export class LinkFlow extends RatedFlow {
  override readonly bytes = MIB;
  readonly #isPaced: () => boolean;

  constructor(offset: number, nowMs: number, isPaced: () => boolean) {
    super(offset, nowMs);
    this.#isPaced = isPaced;
  }

  override room(cursor: number, nowMs: number): number {
    const rated = super.room(cursor, nowMs);
    return this.#isPaced() ? Number.POSITIVE_INFINITY : rated;
  }
  override sent(end: number): void {
    if (this.#isPaced()) this.acked = end;
    else super.sent(end);
  }
}
