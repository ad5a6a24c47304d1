// How many output bytes may be in flight to one client. Sockets report no reliable backpressure, so this counts bytes sent
// less bytes acknowledged, against a window fitted to link and client. The caller passes the time.

import {
  ACK_BYTES,
  ACK_DELAY_MS,
  MAX_FRAME_BYTES,
  MAX_SNAPSHOT_BYTES,
  MAX_WINDOW_BYTES,
  MIN_WINDOW_BYTES,
} from "../wire/constants.ts";
import type { Role } from "../wire/terms.ts";
import { type Flow, WEIGHTY_ACK_BYTES } from "./flow.ts";

/**
 * Target for how long bytes queue beyond the least round trip: it hides a delayed acknowledgement and bounds the wait of ^C.
 * A longer queue shrinks the window, a shorter one in a full window grows it: to about the rate times the sum of both.
 */
const TARGET_QUEUE_MS = 50;
/** Initial window: enough for a screen and its scrollback, too small to fill a slow link for long. */
export const FIRST_WINDOW_BYTES = 64 * 1024;
/** An echo waits behind at most one frame, and acknowledgements arrive while others are in flight.
 * With two frames in its window a distant viewer uses only a third of its link. */
const FRAMES_IN_WINDOW = 8;
/** At the start, and if nothing has queued for several rounds, the window doubles; else it changes slowly. */
const STARTUP_GAIN = 2;
const MAX_GAIN = 1.25;
/** At this many times the target the window shrinks at once, without a full round. */
const OVERLOAD_FACTOR = 4;
const IDLE_QUEUE_MS = TARGET_QUEUE_MS / 10;
const IDLE_ROUNDS = 3;
/** How long the least round trip is remembered, in ms and round trips: links change. */
const ROUND_TRIP_MEMORY_MS = 10_000;
const ROUND_TRIP_MEMORY_ROUNDS = 20;

/** A client that acknowledges nothing for this long plus a round trip has stalled: nothing waits for it. */
const PROGRESS_MS = 200;
/** Nothing waits for a client that missed output this recently: the client or its link is too slow. */
const MISSED_MEMORY_MS = 10_000;

/** A run of bytes sent; `end` is an offset. */
type Flight = {
  readonly end: number;
  readonly sentAt: number;
  /** Whether nothing was in flight before it. */
  readonly isClear: boolean;
};

/** Receives the counts of an acknowledging client. Called while output is sent, so it must be fast. */
export interface OutputObserver {
  /** The client acknowledged output after `ms`, less the delay that it may take. */
  acknowledged(ms: number): void;
  /** The client will not get these bytes. */
  gap(bytes: number): void;
}

export class Window implements Flow {
  readonly maxBytes: number;
  readonly #isViewer: boolean;
  readonly #observer: OutputObserver | undefined;
  #bytes: number;
  #acked: number;
  /** Gaps not yet acknowledged past, oldest first, and the total length of those before. */
  #gaps: { readonly from: number; readonly to: number }[] = [];
  #skippedBytes = 0;
  /** Unacknowledged snapshots, oldest first: bytes that no offset counts. */
  #screens: { readonly offset: number; readonly bytes: number }[] = [];
  /** Unacknowledged bytes, oldest first. About one entry per 4 KiB of window: see {@link sent}. */
  #flights: Flight[] = [];
  #minRoundTripMs = Number.POSITIVE_INFINITY;
  #minRoundTripAtMs = 0;
  /** A round ends when the bytes sent at its start have been acknowledged. */
  #roundEnd: number;
  /** Sum of this round's samples of how long bytes queued. */
  #roundQueueMs = 0;
  #roundSamples = 0;
  #roundMinQueueMs = Number.POSITIVE_INFINITY;
  /** Whether this round's bytes were sent under the previous window: only the next round shows the new one's effect. */
  #isSettling = false;
  #isStarting = true;
  #idleRounds = 0;
  /** Whether the window limited sending in this round, not the process: only then does the round say anything about the link. */
  #wasFull = false;
  /** The window drains to measure a round trip without queueing. */
  #isDraining = false;
  #lastProgressMs = Number.NEGATIVE_INFINITY;
  #missedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether output was skipped since the last acknowledgement. */
  #hasMissed = false;

  /**
   * @param role A viewer awaits no echo, so its frames wait until they are full: each message costs.
   * @param inFlight Unacknowledged bytes from an earlier connection. The window is at least this, or a process that waits for
   * this client would wait without a limit.
   */
  constructor(
    acked: number,
    maxBytes = MAX_WINDOW_BYTES,
    role: Role = "driver",
    observer?: OutputObserver,
    inFlight = 0,
  ) {
    this.#observer = observer;
    this.maxBytes = maxBytes;
    this.#isViewer = role === "viewer";
    this.#acked = acked;
    this.#bytes = Math.min(Math.max(FIRST_WINDOW_BYTES, inFlight), maxBytes);
    this.#roundEnd = acked + this.#bytes;
  }

  /** Most bytes in flight now. */
  get bytes(): number {
    return this.#bytes;
  }

  get linkBytes(): number {
    const share = this.#minRoundTripMs / (this.#minRoundTripMs + TARGET_QUEUE_MS);
    return Number.isNaN(share) ? this.#bytes : Math.max(MIN_WINDOW_BYTES, Math.ceil(this.#bytes * share));
  }

  /** Small while the window is small: an echo waits for a frame's last byte. */
  get frameBytes(): number {
    return Math.min(MAX_FRAME_BYTES, Math.max(MIN_WINDOW_BYTES / 2, Math.floor(this.#bytes / FRAMES_IN_WINDOW)));
  }

  /** The client has processed everything before this offset. */
  get acked(): number {
    return this.#acked;
  }

  /** How many bytes may be sent to a client that was sent everything before `cursor`. */
  room(cursor: number): number {
    const inFlight = this.inFlight(cursor);
    if (this.#isDraining) return inFlight > 0 ? 0 : MIN_WINDOW_BYTES;
    return Math.max(0, this.#bytes - inFlight);
  }

  /** Viewers await no echo. */
  get isPatient(): boolean {
    return this.#isViewer;
  }

  /** With this much in flight, a client acknowledges at once, not after a delay. */
  isBusy(cursor: number): boolean {
    return this.inFlight(cursor) >= ACK_BYTES;
  }

  /** Sending stopped for lack of room. */
  noteFull(): void {
    this.#wasFull = true;
  }

  /** Bytes up to `end` were just sent. */
  sent(end: number, nowMs: number): void {
    const last = this.#flights.at(-1);
    // Small frames sent close together count as one flight, to keep the list short.
    if (last !== undefined && end - this.#acked > 4096 && this.#flights.length > 128 && nowMs - last.sentAt < 2) {
      this.#flights[this.#flights.length - 1] = { ...last, end };
      return;
    }
    this.#flights.push({ end, sentAt: nowMs, isClear: last === undefined });
    if (this.#flights.length > 1024) this.#flights.splice(0, 512);
  }

  /** The bytes from `from` to `to` will never be sent. Bytes before them may still be in flight. */
  skipped(from: number, to: number): void {
    this.#gaps.push({ from, to });
    this.#hasMissed = true;
    this.#observer?.gap(to - from);
  }

  keepsUp(nowMs: number): boolean {
    const hasMissed = this.#hasMissed || nowMs - this.#missedAtMs < MISSED_MEMORY_MS;
    const roundTripMs = Number.isFinite(this.#minRoundTripMs) ? this.#minRoundTripMs : 0;
    const hasEver = this.#lastProgressMs > Number.NEGATIVE_INFINITY;
    // An acknowledgement of later flights is due since they were sent.
    const sinceMs = Math.max(this.#lastProgressMs, this.#flights[0]?.sentAt ?? 0);
    return hasEver && !hasMissed && nowMs - sinceMs < PROGRESS_MS + roundTripMs;
  }

  /** A snapshot longer than the window is allowed if nothing else is in flight. */
  hasScreenRoom(cursor: number): boolean {
    const inFlight = this.inFlight(cursor);
    return inFlight === 0 || (!this.#isDraining && inFlight + MAX_SNAPSHOT_BYTES <= this.#bytes);
  }

  /** Uses up the window until the snapshot's own offset is acknowledged. */
  drew(offset: number, bytes: number): void {
    this.#screens.push({ offset, bytes });
  }

  /** The client has processed everything before `offset`. Lower offsets are ignored: acknowledgements may cross. */
  ack(offset: number, nowMs: number): boolean {
    const screens = this.#screens.length;
    if (screens > 0) this.#screens = this.#screens.filter((screen) => screen.offset > offset);
    const isWeighty = this.#screens.length < screens || offset - this.#acked >= WEIGHTY_ACK_BYTES;
    if (this.#screens.length < screens) this.#lastProgressMs = nowMs;
    if (offset > this.#acked) this.#advance(offset, nowMs);
    return isWeighty;
  }

  #advance(offset: number, nowMs: number): void {
    const count = this.#sentBefore(offset) - this.#sentBefore(this.#acked);
    const first = this.#flights[0];
    let last: Flight | undefined;
    let passed = 0;
    for (const flight of this.#flights) {
      if (flight.end > offset) break;
      last = flight;
      passed += 1;
    }
    this.#flights.splice(0, passed);
    this.#acked = offset;
    this.#lastProgressMs = nowMs;
    if (this.#hasMissed) this.#missedAtMs = nowMs;
    this.#hasMissed = false;
    for (let gap = this.#gaps[0]; gap !== undefined && gap.to <= offset; gap = this.#gaps[0]) {
      this.#skippedBytes += gap.to - gap.from;
      this.#gaps.shift();
    }
    if (last === undefined || first === undefined) return;
    this.#measure(first, last, count, nowMs);
    if (offset >= this.#roundEnd) this.#endRound();
  }

  /** Bytes in flight to a client that was sent everything before `cursor`. */
  inFlight(cursor: number): number {
    let bytes = this.#sentBefore(cursor) - this.#sentBefore(this.#acked);
    for (const screen of this.#screens) bytes += screen.bytes;
    return bytes;
  }

  /** How many bytes before `offset` were sent: all but those of the gaps. */
  #sentBefore(offset: number): number {
    let skipped = this.#skippedBytes;
    for (const { from, to } of this.#gaps) skipped += Math.max(0, Math.min(offset, to) - from);
    return offset - skipped;
  }

  /**
   * A client with less than {@link ACK_BYTES} to acknowledge does so {@link ACK_DELAY_MS} after the oldest byte; else at once.
   */
  #measure(first: Flight, last: Flight, count: number, nowMs: number): void {
    const wasDelayed = count < ACK_BYTES;
    const { sentAt, isClear } = wasDelayed ? first : last;
    const roundTripMs = Math.max(0, nowMs - sentAt - (wasDelayed ? ACK_DELAY_MS : 0));
    this.#observer?.acknowledged(roundTripMs);
    const memoryMs = Math.max(ROUND_TRIP_MEMORY_MS, ROUND_TRIP_MEMORY_ROUNDS * this.#minRoundTripMs);
    const isStale = nowMs - this.#minRoundTripAtMs > memoryMs;
    if (roundTripMs <= this.#minRoundTripMs || (isClear && isStale)) {
      this.#minRoundTripMs = roundTripMs;
      this.#minRoundTripAtMs = nowMs;
      this.#isDraining = false;
    } else if (isStale && this.#wasFull) this.#isDraining = true;
    const queueMs = roundTripMs - this.#minRoundTripMs;
    this.#roundQueueMs += queueMs;
    this.#roundSamples += 1;
    this.#roundMinQueueMs = Math.min(this.#roundMinQueueMs, queueMs);
    // The link has become much slower: the bytes in flight take long enough without more behind them.
    if (this.#wasFull && !this.#isSettling && queueMs > OVERLOAD_FACTOR * (this.#minRoundTripMs + TARGET_QUEUE_MS)) {
      this.#change((this.#minRoundTripMs + TARGET_QUEUE_MS) / roundTripMs);
      this.#startRound();
    }
  }

  #startRound(): void {
    this.#roundEnd = this.#flights.at(-1)?.end ?? this.#acked;
    this.#roundQueueMs = 0;
    this.#roundSamples = 0;
    this.#roundMinQueueMs = Number.POSITIVE_INFINITY;
  }

  #endRound(): void {
    const least = this.#minRoundTripMs;
    const queueMs = this.#roundQueueMs / Math.max(1, this.#roundSamples);
    const minQueueMs = this.#roundMinQueueMs;
    this.#startRound();
    if (this.#isSettling) {
      this.#isSettling = false;
      return;
    }
    if (!this.#wasFull || this.#isDraining) return;
    this.#wasFull = false;
    // On a long round trip, the queueing of a burst behind its own first frames says nothing.
    const isIdle = minQueueMs < Math.max(IDLE_QUEUE_MS, least / 10);
    const mayGrow = isIdle && queueMs < Math.max(TARGET_QUEUE_MS, least / 2);
    this.#idleRounds = queueMs < IDLE_QUEUE_MS ? this.#idleRounds + 1 : 0;
    this.#isStarting = mayGrow && (this.#isStarting || this.#idleRounds >= IDLE_ROUNDS);
    // By the least wait: a queue delays every byte of a round; a lost packet, a radio or a busy machine delays some.
    const fitting = (least + TARGET_QUEUE_MS) / (least + minQueueMs);
    this.#change(this.#isStarting ? STARTUP_GAIN : mayGrow ? MAX_GAIN : Math.min(MAX_GAIN, fitting));
  }

  /** Bytes sent from now on measure the new window. At its limit the window stays, and later bytes keep measuring it. */
  #change(gain: number): void {
    const bytes = Math.round(Math.min(this.maxBytes, Math.max(MIN_WINDOW_BYTES, gain * this.#bytes)));
    this.#isSettling = bytes !== this.#bytes;
    this.#bytes = bytes;
  }
}
