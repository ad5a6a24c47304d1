// S1: a screen as programs are told it.

import { expect, test } from "vitest";
import { Emulator } from "../../src/screen/emulator.ts";

const SIZE = { cols: 20, rows: 3 };

function shown(text: string) {
  const emulator = new Emulator(SIZE, 0, true);
  emulator.write(new TextEncoder().encode(text), SIZE);
  return emulator.show({ scrollback: 1, runs: true, ansi: false });
}

test.each([
  ["1", { bold: true }],
  ["2", { dim: true }],
  ["3", { italic: true }],
  ["4", { underline: true }],
  ["5", { blink: true }],
  ["7", { inverse: true }],
  ["8", { invisible: true }],
  ["9", { strikethrough: true }],
  ["53", { overline: true }],
  ["31;102", { fg: 1, bg: 10 }],
  ["38;5;200;48;5;16", { fg: 200, bg: 16 }],
  ["38;2;1;2;255;1;3", { fg: "#0102ff", bold: true, italic: true }],
])("S1: SGR %s is told as a run of its columns", (sgr, style) => {
  expect(shown(`ab\x1b[${sgr}mcde\x1b[mf`).runs).toEqual([[{ x: 2, cols: 3, ...style }], [], []]);
});

test("S1: a link alone is no style; neighbours of one style are one run, of two styles two", () => {
  const link = "\x1b]8;;https://a\x1b\\x\x1b]8;;\x1b\\";
  expect(shown(`${link}\x1b[1ma\x1b[1mb\x1b[3mc`).runs?.[0]).toEqual([
    { x: 1, cols: 2, bold: true },
    { x: 3, cols: 1, bold: true, italic: true },
  ]);
});

test("S1: lines lose blanks at their end, wide characters count once, and the cursor stays in the last column", () => {
  const state = shown(`\x1b[?25l\x1b[?1h\x1b[?2004habove\r\n\x1b[44mwide 漢字  \r\n\r\n${"x".repeat(20)}`);
  expect(state).toMatchObject({ scrollback: ["above"], lines: ["wide 漢字", "", "x".repeat(20)] });
  expect(state.cursor).toEqual({ x: 19, y: 2, visible: false });
  expect(state.modes).toMatchObject({ bracketedPaste: true, applicationCursor: true, mouse: false });
});
