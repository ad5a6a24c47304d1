// How many output bytes may be in flight to one client. No socket tells the truth about backpressure here, so it is
// counted: bytes sent less bytes acknowledged, against a window that is fitted to the link and the client. No
// clock of its own: the caller tells the time.

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
 * How long bytes are to wait on the way beyond the least round trip. It hides a delayed acknowledgement, and ^C waits for
 * it at most. More, and the window shrinks; less while it is full, and it grows: to about the rate times the sum of both.
 */
const TARGET_QUEUE_MS = 50;
/** A first guess: enough for a screen and its scrollback, little enough not to fill a slow link for long. */
export const FIRST_WINDOW_BYTES = 64 * 1024;
/** Small enough for an echo to wait behind one, and for acknowledgements to come while others are on the way: with two in
 * its window a far viewer uses a third of its link. */
const FRAMES_IN_WINDOW = 8;
/** At the start, and where nothing waits on the way for several rounds, the window doubles; else it changes by little. */
const STARTUP_GAIN = 2;
const MOST_GAIN = 1.25;
/** So many times the target need not be watched for a round. */
const FAR_TOO_MUCH = 4;
const IDLE_QUEUE_MS = TARGET_QUEUE_MS / 10;
const IDLE_ROUNDS = 3;
/** The least round trip is that of the last so many ms, or round trips: links change. */
const ROUND_TRIP_MEMORY_MS = 10_000;
const ROUND_TRIP_MEMORY_ROUNDS = 20;

/** A client that has acknowledged nothing for so long and a round trip has stopped: nobody waits for it. */
const PROGRESS_MS = 200;
/** Nor for one that missed something so lately: its link, or the client, is too slow for this output. */
const MISSED_MEMORY_MS = 10_000;

/** A run of bytes sent; `end` is an offset. */
type Flight = {
  readonly end: number;
  readonly sentAt: number;
  /** Whether nothing was on the way before it. */
  readonly isClear: boolean;
};

/** Told the counts of a client that acknowledges. Called while output is sent: it must be quick. */
export interface OutputObserver {
  /** The client has acknowledged output after so long, less the delay that it may take. */
  acknowledged(ms: number): void;
  /** The client does not get so many bytes. */
  gap(bytes: number): void;
}

export class Window implements Flow {
  readonly maxBytes: number;
  readonly #isViewer: boolean;
  readonly #observer: OutputObserver | undefined;
  #bytes: number;
  #acked: number;
  /** Gaps that the client has not acknowledged past, oldest first, and the length of all before them. */
  #gaps: { readonly from: number; readonly to: number }[] = [];
  #skippedBytes = 0;
  /** Snapshots that the client has not acknowledged, oldest first: bytes that no offset counts. */
  #screens: { readonly offset: number; readonly bytes: number }[] = [];
  /** Bytes that are not yet acknowledged, oldest first. At most one entry for each 4 KiB of window, or so: see {@link sent}. */
  #flights: Flight[] = [];
  #leastRoundTripMs = Number.POSITIVE_INFINITY;
  #leastRoundTripAt = 0;
  /** A round ends when the bytes sent at its start have been acknowledged. */
  #roundEnd: number;
  /** How long bytes of this round waited on the way: the sum of so many samples. */
  #roundQueueMs = 0;
  #roundSamples = 0;
  #roundLeastQueueMs = Number.POSITIVE_INFINITY;
  /** Whether this round's bytes were sent under an older window: only the next one shows the effect of the newest. */
  #isSettling = false;
  #isStarting = true;
  #idleRounds = 0;
  /** Whether the window, and not the process, limited sending in this round: only then does it tell of the link. */
  #wasFull = false;
  /** The window drains, so that it can measure a round trip that did not wait behind other bytes. */
  #isDraining = false;
  #progressedAtMs = Number.NEGATIVE_INFINITY;
  #missedAtMs = Number.NEGATIVE_INFINITY;
  /** Something was skipped since the last acknowledgement. */
  #hasMissed = false;

  /**
   * @param role A viewer's frames wait to be whole where they can: it awaits no echo, and each message counts.
   * @param inFlight What an earlier connection was sent and is not acknowledged. The window is not less: a process that waits
   * for it has more to send, or it would be waited for without a limit.
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

  /** The most that may be in flight now. */
  get bytes(): number {
    return this.#bytes;
  }

  get linkBytes(): number {
    const share = this.#leastRoundTripMs / (this.#leastRoundTripMs + TARGET_QUEUE_MS);
    return Number.isNaN(share) ? this.#bytes : Math.max(MIN_WINDOW_BYTES, Math.ceil(this.#bytes * share));
  }

  /** Small where the window is: a frame counts as arrived when its last byte has, and an echo waits behind it. */
  get frameBytes(): number {
    return Math.min(MAX_FRAME_BYTES, Math.max(MIN_WINDOW_BYTES / 2, Math.floor(this.#bytes / FRAMES_IN_WINDOW)));
  }

  /** Everything before this offset has been dealt with by the client. */
  get acked(): number {
    return this.#acked;
  }

  /** How many bytes may be sent to a client that has been sent everything before `cursor`. */
  room(cursor: number): number {
    const inFlight = this.inFlight(cursor);
    if (this.#isDraining) return inFlight > 0 ? 0 : MIN_WINDOW_BYTES;
    return Math.max(0, this.#bytes - inFlight);
  }

  /** It awaits no echo. */
  get isPatient(): boolean {
    return this.#isViewer;
  }

  /** With so much in flight a client acknowledges as soon as it has dealt with that, and not only after a while. */
  isBusy(cursor: number): boolean {
    return this.inFlight(cursor) >= ACK_BYTES;
  }

  /** Sending stopped for want of room. */
  noteFull(): void {
    this.#wasFull = true;
  }

  /** Bytes up to `end` were just sent. */
  sent(end: number, nowMs: number): void {
    const last = this.#flights.at(-1);
    // Small frames sent close together are one flight: the list stays short however the output is cut.
    if (last !== undefined && end - this.#acked > 4096 && this.#flights.length > 128 && nowMs - last.sentAt < 2) {
      this.#flights[this.#flights.length - 1] = { ...last, end };
      return;
    }
    const isClear = last === undefined || last.end <= this.#acked;
    this.#flights.push({ end, sentAt: nowMs, isClear });
    if (this.#flights.length > 1024) this.#flights.splice(0, 512);
  }

  /** The bytes from `from` to `to` will never be sent. Bytes that were sent before them may still be in flight. */
  skipped(from: number, to: number): void {
    this.#gaps.push({ from, to });
    this.#hasMissed = true;
    this.#observer?.gap(to - from);
  }

  keepsUp(nowMs: number): boolean {
    const hasMissed = this.#hasMissed || nowMs - this.#missedAtMs < MISSED_MEMORY_MS;
    const roundTripMs = Number.isFinite(this.#leastRoundTripMs) ? this.#leastRoundTripMs : 0;
    const hasEver = this.#progressedAtMs > Number.NEGATIVE_INFINITY;
    // What was sent after that is awaited since then.
    const sinceMs = Math.max(this.#progressedAtMs, this.#flights[0]?.sentAt ?? 0);
    return hasEver && !hasMissed && nowMs - sinceMs < PROGRESS_MS + roundTripMs;
  }

  /** One that is longer than the window may be all that is in flight. */
  hasScreenRoom(cursor: number): boolean {
    const inFlight = this.inFlight(cursor);
    return inFlight === 0 || (!this.#isDraining && inFlight + MAX_SNAPSHOT_BYTES <= this.#bytes);
  }

  /** Uses up the window until its offset is acknowledged, which no acknowledgement of before it can do. */
  drew(offset: number, bytes: number): void {
    this.#screens.push({ offset, bytes });
  }

  /** The client says that it has dealt with everything before `offset`. Going back is ignored: acknowledgements may cross. */
  ack(offset: number, nowMs: number): boolean {
    const screens = this.#screens.length;
    if (screens > 0) this.#screens = this.#screens.filter((screen) => screen.offset > offset);
    const isWeighty = this.#screens.length < screens || offset - this.#acked >= WEIGHTY_ACK_BYTES;
    if (this.#screens.length < screens) this.#progressedAtMs = nowMs;
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
    this.#progressedAtMs = nowMs;
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

  /** How many bytes are in flight to a client that has been sent everything before `cursor`. */
  inFlight(cursor: number): number {
    let bytes = this.#sentBefore(cursor) - this.#sentBefore(this.#acked);
    for (const screen of this.#screens) bytes += screen.bytes;
    return bytes;
  }

  /** How many of the bytes before `offset` have been sent: all but those of the gaps. */
  #sentBefore(offset: number): number {
    let skipped = this.#skippedBytes;
    for (const { from, to } of this.#gaps) skipped += Math.max(0, Math.min(offset, to) - from);
    return offset - skipped;
  }

  /**
   * A client that has less than {@link ACK_BYTES} to acknowledge does so when the oldest of them has waited for
   * {@link ACK_DELAY_MS}; else at once.
   */
  #measure(first: Flight, last: Flight, count: number, nowMs: number): void {
    const wasDelayed = count < ACK_BYTES;
    const { sentAt, isClear } = wasDelayed ? first : last;
    const roundTripMs = Math.max(0, nowMs - sentAt - (wasDelayed ? ACK_DELAY_MS : 0));
    this.#observer?.acknowledged(roundTripMs);
    const memoryMs = Math.max(ROUND_TRIP_MEMORY_MS, ROUND_TRIP_MEMORY_ROUNDS * this.#leastRoundTripMs);
    const isStale = nowMs - this.#leastRoundTripAt > memoryMs;
    if (roundTripMs <= this.#leastRoundTripMs || (isClear && isStale)) {
      this.#leastRoundTripMs = roundTripMs;
      this.#leastRoundTripAt = nowMs;
      this.#isDraining = false;
    } else if (isStale && this.#wasFull) this.#isDraining = true;
    const queueMs = roundTripMs - this.#leastRoundTripMs;
    this.#roundQueueMs += queueMs;
    this.#roundSamples += 1;
    this.#roundLeastQueueMs = Math.min(this.#roundLeastQueueMs, queueMs);
    // A link that has become much slower: the bytes on the way take long enough to arrive without more behind them.
    if (this.#wasFull && !this.#isSettling && queueMs > FAR_TOO_MUCH * (this.#leastRoundTripMs + TARGET_QUEUE_MS)) {
      this.#change((this.#leastRoundTripMs + TARGET_QUEUE_MS) / roundTripMs);
      this.#startRound();
    }
  }

  #startRound(): void {
    this.#roundEnd = this.#flights.at(-1)?.end ?? this.#acked + 1;
    this.#roundQueueMs = 0;
    this.#roundSamples = 0;
    this.#roundLeastQueueMs = Number.POSITIVE_INFINITY;
  }

  #endRound(): void {
    const least = this.#leastRoundTripMs;
    const queueMs = this.#roundQueueMs / Math.max(1, this.#roundSamples);
    const leastQueueMs = this.#roundLeastQueueMs;
    this.#startRound();
    if (this.#isSettling) {
      this.#isSettling = false;
      return;
    }
    if (!this.#wasFull || this.#isDraining) return;
    this.#wasFull = false;
    // If the round trip is long, the wait of one burst of frames for its own first ones tells nothing.
    const isIdle = leastQueueMs < Math.max(IDLE_QUEUE_MS, least / 10);
    const mayGrow = isIdle && queueMs < Math.max(TARGET_QUEUE_MS, least / 2);
    this.#idleRounds = queueMs < IDLE_QUEUE_MS ? this.#idleRounds + 1 : 0;
    this.#isStarting = mayGrow && (this.#isStarting || this.#idleRounds >= IDLE_ROUNDS);
    const fitting = (least + TARGET_QUEUE_MS) / (least + queueMs);
    this.#change(this.#isStarting ? STARTUP_GAIN : mayGrow ? MOST_GAIN : Math.min(MOST_GAIN, fitting));
  }

  /** Bytes sent from now on tell of the new window. A window at its limit stays, and the bytes go on telling of it. */
  #change(gain: number): void {
    const bytes = Math.round(Math.min(this.maxBytes, Math.max(MIN_WINDOW_BYTES, gain * this.#bytes)));
    this.#isSettling = bytes !== this.#bytes;
    this.#bytes = bytes;
  }
}
