// How many output bytes may be in flight to one client. Nobody's socket tells the truth about backpressure here, so it is
// counted: bytes sent less bytes acknowledged, against a window that is fitted to the client's measured rate. No clock of
// its own: the caller says what time it is.

import { MAX_WINDOW_BYTES, MIN_WINDOW_BYTES } from "./constants.ts";
import type { Flow } from "./reader.ts";

/** What the window adds to the least round trip: the longest that an acknowledgement is delayed, and what ^C waits at most. */
const TARGET_QUEUE_MS = 50;
/** A first guess: enough for a screen and its scrollback, little enough not to fill a slow link for long. */
const FIRST_WINDOW_BYTES = 64 * 1024;
/** The best rate and the least round trip are those of the last so many ms: links change. */
const RATE_MEMORY_MS = 2_000;
const ROUND_TRIP_MEMORY_MS = 10_000;
/** While the rate still grows by a quarter in each round, the window doubles. */
const STARTUP_GAIN = 2;
const STARTUP_GROWTH = 1.25;
const STARTUP_FLAT_ROUNDS = 3;
/** Afterwards one round in eight asks for a quarter more: a bare rate times delay can only shrink. */
const PROBE_GAIN = 1.25;
const PROBE_CYCLE = 8;

/** A run of bytes sent. `ackedThen` counts bytes that were sent and acknowledged at that time; `end` is an offset. */
type Flight = { readonly end: number; readonly sentAt: number; readonly ackedThen: number; readonly ackedAt: number };

export class Window implements Flow {
  readonly maxBytes: number;
  #bytes: number;
  #acked: number;
  #ackedAt = 0;
  /** Gaps that the client has not acknowledged past, oldest first, and the length of all before them. */
  #gaps: { readonly from: number; readonly to: number }[] = [];
  #skippedBytes = 0;
  /** Frames not yet acknowledged, oldest first. At most one entry for each 4 KiB of window, or so: see {@link sent}. */
  #flights: Flight[] = [];
  #leastRoundTripMs = Number.POSITIVE_INFINITY;
  #leastRoundTripAt = 0;
  /** The best delivery rate, bytes a ms, and when it was seen. */
  #bestRate = 0;
  #bestRateAt = 0;
  /** A round ends when what was sent at its start has been acknowledged. */
  #roundEnd = 0;
  #rateAtRoundStart = 0;
  #flatRounds = 0;
  #round = 0;
  /** Whether the window, and not the process, was what limited sending in this round: only then does the rate tell of the link. */
  #wasFull = false;

  constructor(acked: number, maxBytes = MAX_WINDOW_BYTES) {
    this.maxBytes = maxBytes;
    this.#acked = acked;
    this.#bytes = Math.min(FIRST_WINDOW_BYTES, maxBytes);
    this.#roundEnd = acked;
  }

  /** The most that may be in flight now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Everything before this offset has been dealt with by the client. */
  get acked(): number {
    return this.#acked;
  }

  /** How many bytes may be sent to a client that has been sent everything before `cursor`. */
  room(cursor: number): number {
    return Math.max(0, this.#bytes - (this.#sentBefore(cursor) - this.#sentBefore(this.#acked)));
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
    const ackedThen = this.#sentBefore(this.#acked);
    this.#flights.push({ end, sentAt: nowMs, ackedThen, ackedAt: this.#ackedAt || nowMs });
    if (this.#flights.length > 1024) this.#flights.splice(0, 512);
  }

  /** The bytes from `from` to `to` will never be sent. What was sent before them is still in flight. */
  skipped(from: number, to: number): void {
    this.#gaps.push({ from, to });
  }

  /** The client says that it has dealt with everything before `offset`. Going back is ignored: acknowledgements may cross. */
  ack(offset: number, nowMs: number): void {
    if (offset <= this.#acked) return;
    let flight: Flight | undefined;
    let passed = 0;
    for (const next of this.#flights) {
      if (next.end > offset) break;
      flight = next;
      passed += 1;
    }
    this.#flights.splice(0, passed);
    this.#acked = offset;
    this.#ackedAt = nowMs;
    for (let gap = this.#gaps[0]; gap !== undefined && gap.to <= offset; gap = this.#gaps[0]) {
      this.#skippedBytes += gap.to - gap.from;
      this.#gaps.shift();
    }
    if (flight === undefined) return;
    this.#measure(offset, flight, nowMs);
    if (offset >= this.#roundEnd) this.#endRound(nowMs);
    this.#fit();
  }

  /** How many of the bytes before `offset` have been sent: all but those of the gaps. */
  #sentBefore(offset: number): number {
    let skipped = this.#skippedBytes;
    for (const { from, to } of this.#gaps) skipped += Math.max(0, Math.min(offset, to) - from);
    return offset - skipped;
  }

  #measure(offset: number, flight: Flight, nowMs: number): void {
    const roundTripMs = Math.max(0, nowMs - flight.sentAt);
    if (roundTripMs <= this.#leastRoundTripMs || nowMs - this.#leastRoundTripAt > ROUND_TRIP_MEMORY_MS) {
      this.#leastRoundTripMs = roundTripMs;
      this.#leastRoundTripAt = nowMs;
    }
    // The delivery rate over this flight's life. Never shorter than a ms: clocks on some platforms do not tick finer.
    const rate =
      (this.#sentBefore(offset) - flight.ackedThen) / Math.max(1, nowMs - Math.min(flight.ackedAt, flight.sentAt));
    const isStale = nowMs - this.#bestRateAt > RATE_MEMORY_MS;
    // A process that writes little says nothing of the link: its samples count only where they are better.
    if (rate >= this.#bestRate || (isStale && this.#wasFull)) {
      this.#bestRate = rate;
      this.#bestRateAt = nowMs;
    }
  }

  #endRound(nowMs: number): void {
    const last = this.#flights.at(-1);
    this.#roundEnd = last === undefined ? this.#acked + 1 : last.end;
    if (!this.#wasFull) return;
    this.#wasFull = false;
    this.#round += 1;
    if (this.#flatRounds < STARTUP_FLAT_ROUNDS) {
      if (this.#bestRate >= this.#rateAtRoundStart * STARTUP_GROWTH) this.#flatRounds = 0;
      else this.#flatRounds += 1;
      this.#rateAtRoundStart = this.#bestRate;
    } else if (nowMs - this.#bestRateAt <= 1 && this.#bestRate > this.#rateAtRoundStart * 2) {
      // The link has become much faster: grow as at the start.
      this.#flatRounds = 0;
      this.#rateAtRoundStart = this.#bestRate;
    }
  }

  #fit(): void {
    const isStarting = this.#flatRounds < STARTUP_FLAT_ROUNDS;
    const gain = isStarting ? STARTUP_GAIN : this.#round % PROBE_CYCLE === 0 ? PROBE_GAIN : 1;
    const wanted = gain * this.#bestRate * (this.#leastRoundTripMs + TARGET_QUEUE_MS);
    const least = isStarting ? Math.max(MIN_WINDOW_BYTES, Math.min(this.#bytes, FIRST_WINDOW_BYTES)) : MIN_WINDOW_BYTES;
    this.#bytes = Math.round(Math.min(this.maxBytes, Math.max(least, wanted)));
  }
}
