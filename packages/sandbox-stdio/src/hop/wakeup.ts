// Decides when the bridge calls a session object that has parked or left. The caller passes the time; knows nothing of requests.

import type { InnerCommand } from "../wire/inner-messages.ts";

/** The last message of a parked session object. */
export type Parking = Omit<Extract<InnerCommand, { type: "park" }>, "type">;

/** How far the process has got. */
export type Progress = { readonly endOffset: number; readonly hasEnded: boolean };

/** Pauses between unanswered calls: within the first one, a called object opens its connection. */
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

export class WakeupSchedule {
  #parking: Parking | undefined;
  #parkedAtMs = 0;
  /** Number of unanswered calls, and when the last one was made. */
  #calls = 0;
  #calledAtMs = 0;
  /** Whether a call was made since the process ended. */
  #hasAnnouncedEnd = false;
  /** Whether the object's clients have yet to learn that the bridge is stopping. */
  #isStopDue = false;

  /** The object has parked. */
  park(parking: Parking, nowMs: number): void {
    this.#parking = parking;
    this.#parkedAtMs = nowMs;
    this.#calls = 0;
    this.#hasAnnouncedEnd = false;
    this.#isStopDue = false;
  }

  /** The bridge is stopping, which the clients of a parked object must learn, if it has any. */
  stopping(): void {
    if (this.#parking === undefined || this.#parking.seconds === 0) return;
    this.#isStopDue = true;
    this.#calls = 0;
  }

  /** The object has connected. */
  answered(): void {
    this.#parking = undefined;
  }

  /** Describes the object to call; undefined while it is connected, or if it never parked. */
  get parking(): Parking | undefined {
    return this.#parking;
  }

  /** Until when the process counts as attended by the clients of a parked object; minus infinity if there are none. */
  get keptUntilMs(): number {
    const { seconds = 0 } = this.#parking ?? {};
    return seconds === 0 ? Number.NEGATIVE_INFINITY : this.#parkedAtMs + seconds * 1000;
  }

  /** When to call; infinity for never. An exit and a stop are announced at once, even if the object asked to wait for output. */
  nextMs({ endOffset, hasEnded }: Progress): number {
    const parking = this.#parking;
    if (parking === undefined) return Number.POSITIVE_INFINITY;
    if (hasEnded && !this.#hasAnnouncedEnd) return this.#parkedAtMs;
    if (!hasEnded && !this.#isStopDue && endOffset === parking.offset) return Number.POSITIVE_INFINITY;
    const firstMs = this.#parkedAtMs + (this.#isStopDue ? 0 : parking.after * 1000);
    if (this.#calls === 0) return firstMs;
    return Math.max(firstMs, this.#calledAtMs + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#calls - 1)));
  }

  called({ hasEnded }: Progress, nowMs: number): void {
    this.#calls += 1;
    this.#calledAtMs = nowMs;
    if (hasEnded) this.#hasAnnouncedEnd = true;
  }
}
