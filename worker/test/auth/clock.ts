// The clock that the code reads, set by tests. Timers and sockets are left alone.
import { vi } from "vitest";

/** Moves the clock forward from where it stands, and stops it there. */
export function advanceClock(milliseconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds });
}

/** Lets the clock run again, at the real time. */
export function restoreClock(): void {
  vi.useRealTimers();
}
