// Keyboard modes, character sets and the cursor's states, in any order: a snapshot brings them all to a fresh terminal. A failing
// run is made as short as it can be, and tells its seed.

import fc from "fast-check";
import { expect, test } from "vitest";
import { Emulator } from "../../src/screen/emulator.ts";
import { Viewer } from "./screen-state.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const one = (...texts: readonly string[]) => fc.constantFrom(...texts);
const mode = (numbers: readonly number[]) =>
  fc.tuple(fc.constantFrom(...numbers), one("h", "l")).map(([number, end]) => `\x1b[?${number}${end}`);

/** Cursor keys, keypad, brackets around a paste, focus, mouse, kitty's flags. */
const KEYBOARD = fc.oneof(
  mode([1, 66, 2004, 1004, 9, 1000, 1002, 1003, 1005, 1006, 1015, 1016]),
  one("\x1b=", "\x1b>", "\x1b[!p"),
  fc.tuple(fc.nat(31), fc.nat(3)).map(([flags, how]) => `\x1b[=${flags};${how}u`),
  fc.nat(31).map((flags) => `\x1b[>${flags}u`),
  fc.nat(3).map((count) => `\x1b[<${count}u`),
);
const CHARSETS = fc.oneof(
  fc.tuple(one("(", ")", "*", "+"), one("0", "A", "B", "4", "R", "K")).map(([slot, set]) => `\x1b${slot}${set}`),
  one("\x0e", "\x0f", "\x1bn", "\x1bo", "\x1b~", "\x1b}", "\x1b|"),
);
const CURSOR = fc.oneof(
  mode([6, 7, 12, 25, 45, 47, 1047, 1048, 1049]),
  one(
    "\x1b7",
    "\x1b8",
    "\x1b[s",
    "\x1b[u",
    "\x1b[r",
    "\x1bM",
    "\x1bD",
    "\x1bH",
    "\x1b[g",
    "\x1b[3g",
    "\x1b[4h",
    "\x1b[4l",
  ),
  fc.nat(7).map((shape) => `\x1b[${shape} q`),
  fc.tuple(fc.nat(14), fc.nat(22)).map(([row, column]) => `\x1b[${row};${column}H`),
  fc.tuple(fc.nat(6), fc.nat(10)).map(([top, bottom]) => `\x1b[${top};${bottom}r`),
);
const TEXT = one(
  "a",
  "lqkx",
  "#",
  "\r\n",
  "\r",
  "漢字",
  "x".repeat(20),
  "\x1b[99Gx",
  "\x1b[1;44m",
  "\x1b[m",
  "\t",
  "\b",
);

const PIECES = fc.array(fc.oneof(KEYBOARD, CHARSETS, CURSOR, TEXT), { maxLength: 40 });

/** What of a snapshot says how keys are reported: xterm.js keeps none of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence is made of them
const kittyOf = (bytes: Uint8Array): string[] => decoder.decode(bytes).match(/\x1b\[[=><][\d;]*u/g) ?? [];

test("keyboard modes, character sets and cursors in any order come to a fresh terminal with a snapshot", () => {
  const size = { cols: 20, rows: 10 };
  const property = fc.property(PIECES, PIECES, (before, after) => {
    const emulator = new Emulator(size, 0, true);
    const live = new Viewer(size, 0);
    const bytes = encoder.encode(before.join(""));
    emulator.write(bytes, size);
    live.write(bytes);
    const snapshot = emulator.draw();
    expect(snapshot.isExact).toBe(true);
    const late = Viewer.of(snapshot);
    expect(late.answers).toEqual([]);
    expect(late.state(late.scrollback)).toEqual(live.state(live.scrollback));
    const again = new Emulator(size, 0, true);
    again.write(snapshot.bytes, size);
    expect(kittyOf(again.draw().bytes)).toEqual(kittyOf(snapshot.bytes));
    // And what comes next does the same to both.
    const next = encoder.encode(after.join(""));
    late.write(next);
    live.write(next);
    const count = Math.min(late.scrollback, live.scrollback);
    expect(late.state(count, false)).toEqual(live.state(count, false));
  });
  fc.assert(property, { numRuns: Number(process.env.FUZZ_RUNS ?? 100) });
});
