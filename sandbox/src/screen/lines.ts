// The lines that an emulator remembers: their number, their memory, and where the last ones begin in output.

/** So many lines of 32 bytes fit in a snapshot. */
export const SCROLLBACK_LINES = 2_000;
/** Memory of a cell, also of an empty one. */
const COLUMN_BYTES = 12;
/** Output per line; lines are seldom shorter. */
const LINE_BYTES = 16;

export const ESC = 0x1b;
/** SO and SI change the character set, 0xc2 begins the C1 controls in UTF-8: output without these and ESC is only text. */
export const OTHER_CONTROLS = [0x0e, 0x0f, 0xc2];
const CR = 0x0d;
const LF = 0x0a;

/** The number of bytes before the first of `controls`. */
export function lengthWithout(bytes: Uint8Array, controls: readonly number[]): number {
  let length = bytes.length;
  for (const control of controls) {
    const at = bytes.indexOf(control);
    if (at >= 0 && at < length) length = at;
  }
  return length;
}

/** Finds the last `count` line ends: the position behind the first of them, and how many are missing. */
export function lastLineEnds(bytes: Uint8Array, count: number): { readonly behind: number; readonly missing: number } {
  let missing = count;
  for (let at = bytes.length - 1; at > 0; at -= 1) {
    if (bytes[at] !== LF || bytes[at - 1] !== CR) continue;
    missing -= 1;
    if (missing === 0) return { behind: at + 1, missing };
  }
  return { behind: 0, missing };
}

/** About the memory of an emulator that has parsed this much output. */
export function emulatorBytes({ cols, rows }: { cols: number; rows: number }, outputBytes: number): number {
  return COLUMN_BYTES * cols * (rows + Math.min(SCROLLBACK_LINES, Math.ceil(outputBytes / LINE_BYTES)));
}
