// When the bridge calls a session object that has gone: it parks with clients attached, or no client is left. Told the time; knows
// no requests.

import type { InnerCommand } from "../wire/inner-messages.ts";

/** The last message of a session object before it went. */
export type Parking = Omit<Extract<InnerCommand, { type: "park" }>, "type">;

/** How far the process is. */
export type Progress = { readonly endOffset: number; readonly hasEnded: boolean };

/** Between two calls that no session object follows: one that comes needs the first pause to open its connection. */
const FIRST_PAUSE_MS = 5_000;
const MOST_PAUSE_MS = 60_000;

export class WakeupSchedule {
  #parking: Parking | undefined;
  #parkedAtMs = 0;
  /** Calls that no session object has followed, and when the last one was. */
  #calls = 0;
  #calledAtMs = 0;
  /** Whether a call has been made since the process has ended. */
  #hasToldEnd = false;
  /** Whether its clients have yet to hear that the bridge stops. */
  #isStopDue = false;

  /** The object has gone. */
  park(parking: Parking, nowMs: number): void {
    this.#parking = parking;
    this.#parkedAtMs = nowMs;
    this.#calls = 0;
    this.#hasToldEnd = false;
    this.#isStopDue = false;
  }

  /** The bridge stops: that is for the clients of an object that has gone, if there are any. */
  stopping(): void {
    if (this.#parking === undefined || this.#parking.seconds === 0) return;
    this.#isStopDue = true;
    this.#calls = 0;
  }

  /** The object is here. */
  answered(): void {
    this.#parking = undefined;
    this.#isStopDue = false;
  }

  /** The object to call; undefined while it is here, or if it has never said how. */
  get parking(): Parking | undefined {
    return this.#parking;
  }

  /** Until when the process counts as attended although nobody is attached: somebody waits; minus infinity: not at all. */
  get keptUntilMs(): number {
    const { seconds = 0 } = this.#parking ?? {};
    return seconds === 0 ? Number.NEGATIVE_INFINITY : this.#parkedAtMs + seconds * 1000;
  }

  /** When to call; infinity for never. An end and a stop are told at once, also to an object that asked to wait for output. */
  nextMs({ endOffset, hasEnded }: Progress): number {
    const parking = this.#parking;
    if (parking === undefined) return Number.POSITIVE_INFINITY;
    if (hasEnded && !this.#hasToldEnd) return this.#parkedAtMs;
    if (!hasEnded && !this.#isStopDue && endOffset === parking.offset) return Number.POSITIVE_INFINITY;
    const firstMs = this.#parkedAtMs + (this.#isStopDue ? 0 : parking.after * 1000);
    if (this.#calls === 0) return firstMs;
    return Math.max(firstMs, this.#calledAtMs + Math.min(MOST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#calls - 1)));
  }

  called({ hasEnded }: Progress, nowMs: number): void {
    this.#calls += 1;
    this.#calledAtMs = nowMs;
    if (hasEnded) this.#hasToldEnd = true;
  }
}
