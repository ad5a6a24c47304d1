// The clock that the code reads, set by tests. Timers and sockets are left alone.
import { vi } from "vitest";

/** Moves the clock forward from where it stands, and stops it there. */
export function advanceClock(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds });
}

/** Stops the clock where it stands: what is computed from it twice comes out the same. */
export function stopClock(): void {
  advanceClock(0);
}

/** Lets the clock run again, at the real time. */
export function restoreClock(): void {
  vi.useRealTimers();
}
