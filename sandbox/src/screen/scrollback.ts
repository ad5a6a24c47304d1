// How far a screen's emulator remembers, and about how much memory that takes.

/** The lines of 32 bytes that a snapshot can carry. */
export const SCROLLBACK_LINES = 2_000;
/** Of each of its lines, for each column of the window, however little stands in it. */
const COLUMN_BYTES = 12;
/** Lines are seldom shorter. */
const LINE_BYTES = 16;

/** About what an emulator takes that has parsed so much output. */
export function emulatorBytes({ cols, rows }: { cols: number; rows: number }, outputBytes: number): number {
  return COLUMN_BYTES * cols * (rows + Math.min(SCROLLBACK_LINES, Math.ceil(outputBytes / LINE_BYTES)));
}
