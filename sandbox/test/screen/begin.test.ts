// An emulator that begins anew after plain output: whatever comes then, it shows what a new one would.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Emulator } from "../../src/screen/emulator.ts";
import { ScreenScheduler } from "../../src/screen/scheduler.ts";
import { Watch } from "../../src/screen/watch.ts";

const SIZE = { cols: 20, rows: 6 };
const WISH = { scrollback: 100, runs: true, ansi: true };
const bytes = (text: string) => new TextEncoder().encode(text);

const PLAIN = fc.oneof(
  fc.constantFrom(
    "~/work $ ",
    "\r\n",
    "\b",
    "\r",
    "\x07",
    "x".repeat(25),
    "\x1b[?2004h",
    "\x1b[?2004l",
    "\x1b[K",
    "\x1b[1K",
  ),
  fc.constantFrom("\x1b[m", "\x1b[1;4;31m", "\x1b[38;5;9;48;2;1;2;3m", "\x1b[7m", "\x1b[J", "\x1b[2J", "\x1b[3J"),
  fc.constantFrom("\x1b]133;A\x07", "\x1b]133;D;0\x1b\\", "\x1b]633;P;Cwd=/\x07"),
);
/** What shows a state that was left behind. */
const LATER = fc.constantFrom(
  ...[
    "text",
    "\t|",
    "\x1b[3b",
    "\x1b8",
    "\x1b[uS",
    "\x1b[6n",
    "\x1b[?2004$p",
    "漢字",
    "e\u0301",
    "\x1b[5;5Hx",
    "\x1b[2L",
    "\x1b[P",
  ],
  ...[
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\r\n\r\n\r\n",
    "\x1b[K",
    "\x1b[2J",
    "y".repeat(30),
    "\x1b[44m",
    "\x1b[4h",
    "\x1bM",
    "\x1b[c",
  ],
);

test("after plain output an emulator begins anew, and is not to be told from a new one", () => {
  fc.assert(
    fc.property(fc.array(PLAIN, { maxLength: 9 }), fc.array(LATER, { minLength: 1, maxLength: 9 }), (before, later) => {
      const again = new Emulator(SIZE, 0, true);
      for (const text of before) again.write(bytes(text), SIZE);
      const hasBegun = again.begin(SIZE, 7, true);
      fc.pre(hasBegun); // Else it has scrolled.
      const fresh = new Emulator(SIZE, 7, true);
      expect(again.draw()).toEqual(fresh.draw());
      for (const text of later) expect(again.write(bytes(text), SIZE)).toEqual(fresh.write(bytes(text), SIZE));
      expect(again.show(WISH)).toEqual(fresh.show(WISH));
      expect(again.draw()).toEqual(fresh.draw());
    }),
    { numRuns: 100 },
  );
});

test.each([
  ["a title", "\x1b]2;title\x07"],
  ["a mode", "\x1b[?25l"],
  ["a tab stop", "\x1bH"],
  ["a character set", "\x1b(0"],
  ["a saved cursor", "\x1b7"],
  ["a link", "\x1b]8;;http://a\x07"],
  ["rows above the screen", "\r\n".repeat(9)],
  ["half of a sequence", "\x1b["],
  ["half of a character", "\xc3"],
])("after %s it does not", (_what, text) => {
  const emulator = new Emulator(SIZE, 0, true);
  emulator.write(Uint8Array.from(Buffer.from(text, "latin1")), SIZE);
  expect(emulator.begin(SIZE, 0, true)).toBe(false);
});

test("nor in another size, nor after output that was skipped", () => {
  const emulator = new Emulator(SIZE, 0, true);
  expect(emulator.begin({ cols: 21, rows: 6 }, 0, true)).toBe(false);
  emulator.skip({ ...SIZE, offset: 9, state: "", content: "text" });
  expect(emulator.begin(SIZE, 0, true)).toBe(false);
});

test("a session's emulator that rests is the next session's, without anything of it", () => {
  const shown: unknown[] = [];
  const turns = new ScreenScheduler(
    new Watch(),
    () => 0,
    (message) => message.kind === "shown" && shown.push(message.id, message.state.lines, message.state.offset),
  );
  for (const id of [1, 2]) {
    turns.add({ kind: "open", id, size: SIZE, offset: 0, isExact: true });
    if (id === 1) turns.add({ kind: "write", id, size: SIZE, bytes: bytes("secret $ ") });
    turns.add({ kind: "show", id, request: WISH });
    turns.add({ kind: "rest", id });
    while (turns.take());
  }
  const nothing = Array.from({ length: 6 }, () => "");
  expect(shown).toEqual([1, ["secret $", ...nothing.slice(1)], 9, 2, nothing, 0]);
});
