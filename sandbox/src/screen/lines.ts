// The lines that an emulator remembers: their number and their memory.

/** So many lines of 32 bytes fit in a snapshot. */
export const SCROLLBACK_LINES = 2_000;
/** Memory of a cell, also of an empty one. */
const COLUMN_BYTES = 12;
/** Output per line; lines are seldom shorter. */
const LINE_BYTES = 16;

/** About the memory of an emulator that has parsed this much output. */
export function emulatorBytes({ cols, rows }: { cols: number; rows: number }, outputBytes: number): number {
  return COLUMN_BYTES * cols * (rows + Math.min(SCROLLBACK_LINES, Math.ceil(outputBytes / LINE_BYTES)));
}
