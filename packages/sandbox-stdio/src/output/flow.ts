// How much may be in flight to one reader of the log. A client that acknowledges has a window (window.ts); here are the others: a
// client that can't, and the inner hop as a whole.

import { KIB, MAX_FRAME_BYTES, MAX_SNAPSHOT_BYTES, MIB, MIN_WINDOW_BYTES, PLAIN_RATE } from "../wire/constants.ts";

/** Fewer bytes than any window has: a client need not acknowledge in smaller steps. */
export const WEIGHTY_ACK_BYTES = MIN_WINDOW_BYTES;

/** How much may be in flight to a reader. */
export interface Flow {
  readonly acked: number;
  /** The most that may be in flight. */
  readonly bytes: number;
  /** So much of that the link itself holds: with it in flight nothing waits on the way, and nothing waits for more. */
  readonly linkBytes: number;
  /** The longest frame. */
  readonly frameBytes: number;
  room(cursor: number, nowMs: number): number;
  /** Whether so much is in flight that its acknowledgement comes without delay: a frame can wait for that to have room. */
  isBusy(cursor: number): boolean;
  /** Whether it can also wait for more to come that makes it whole. */
  readonly isPatient: boolean;
  noteFull(): void;
  sent(end: number, nowMs: number): void;
  /** @returns Whether that sets much free: {@link WEIGHTY_ACK_BYTES} or more, or a snapshot. */
  ack(offset: number, nowMs: number): boolean;
  /** Bytes that will never be sent. */
  skipped(from: number, to: number): void;
  /** Whether its reader has acknowledged something just now, and has missed nothing for long: it is worth waiting for. */
  keepsUp(nowMs: number): boolean;
  /** Whether a snapshot, however long, may be sent now. */
  hasScreenRoom(cursor: number, nowMs: number): boolean;
  /** A snapshot of so many bytes was sent, at this offset. */
  drew(offset: number, bytes: number): void;
}

/** A client that can't acknowledge: its bytes count as dealt with when handed to its socket, at so many a second at most. */
export class RatedFlow implements Flow {
  acked: number;
  readonly bytes: number = 64 * KIB;
  readonly linkBytes: number = 64 * KIB;
  readonly frameBytes = MAX_FRAME_BYTES;
  readonly isPatient = false;
  /** How long a burst may be, at the rate, or one snapshot. */
  static readonly burstMs = 100;
  #tokens: number;
  #filledAtMs: number;
  readonly #bytesPerMs: number;
  /** Not less than a snapshot, which goes out whole or not at all. */
  readonly #mostTokens: number;

  constructor(offset: number, nowMs: number, bytesPerSecond = PLAIN_RATE) {
    this.acked = offset;
    this.#filledAtMs = nowMs;
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#mostTokens = Math.max(MAX_SNAPSHOT_BYTES, this.#bytesPerMs * RatedFlow.burstMs);
    this.#tokens = this.#mostTokens;
  }

  room(_cursor: number, nowMs: number): number {
    this.#tokens = Math.min(this.#mostTokens, this.#tokens + (nowMs - this.#filledAtMs) * this.#bytesPerMs);
    this.#filledAtMs = nowMs;
    return Math.floor(this.#tokens);
  }
  isBusy(): boolean {
    return false; // It can't acknowledge.
  }
  noteFull(): void {
    // The rate is no measure of the link.
  }
  sent(end: number): void {
    this.#tokens -= end - this.acked;
    this.acked = end;
  }
  ack(): boolean {
    return false; // It can't.
  }
  skipped(_from: number, to: number): void {
    this.acked = to;
  }
  keepsUp(): boolean {
    return false; // It does not say.
  }
  hasScreenRoom(cursor: number, nowMs: number): boolean {
    return this.room(cursor, nowMs) >= MAX_SNAPSHOT_BYTES;
  }
  drew(_offset: number, bytes: number): void {
    this.#tokens -= bytes;
  }
}

/**
 * The inner hop, whose far end relays its clients' acknowledgements: no limit but the socket's own while a client paces the
 * process. If none does, the rate holds: else the buffers in between would take in all that a process can write.
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
