// Sequences of every kind in any order: a snapshot of the screen that they leave gives that screen, and what comes next
// does the same to both.

import { expect, test } from "vitest";
import { Boundary } from "../../src/screen/boundary.ts";
import { MAX_SNAPSHOT_BYTES } from "../../src/screen/draw.ts";
import { Emulator } from "../../src/screen/emulator.ts";
import { Generator, type Piece } from "./generate.ts";
import { expectSame, Viewer } from "./screen-state.ts";

const SEEDS = Number(process.env.FUZZ_RUNS ?? 100);
const EVERYTHING = { scrollback: Number.MAX_SAFE_INTEGER, runs: true, ansi: true };
const encoder = new TextEncoder();

function apply(viewer: Viewer, piece: Piece): void {
  if ("text" in piece) viewer.write(encoder.encode(piece.text));
  else viewer.resize(piece.cols, piece.rows);
}

test("the screen from a snapshot is the screen that was drawn, and goes on like it", () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const generator = new Generator(seed);
    let size = { cols: 10 + generator.below(40), rows: 3 + generator.below(15) };
    const pieces = generator.pieces(20 + generator.below(200));
    const cut = generator.below(pieces.length + 1);
    const emulator = new Emulator(size, 0, true);
    const live = new Viewer(size, 0);
    for (const piece of pieces.slice(0, cut)) {
      if ("cols" in piece) size = piece;
      emulator.write("text" in piece ? encoder.encode(piece.text) : new Uint8Array(0), size);
      apply(live, piece);
    }
    const snapshot = emulator.draw();
    expect({ seed, isExact: snapshot.isExact, offset: snapshot.offset }).toEqual({
      seed,
      isExact: true,
      offset: live.offset,
    });
    const late = Viewer.of(snapshot);
    expect(late.answers).toEqual([]);
    expect({ seed, scrollback: late.scrollback }).toEqual({ seed, scrollback: live.scrollback });
    expectSame({ seed }, late.state(late.scrollback), live.state(live.scrollback));
    for (const piece of pieces.slice(cut)) {
      // Another size shows lines again that are above the screen here and cut off there.
      if ("cols" in piece) continue;
      apply(late, piece);
      apply(live, piece);
      const count = Math.min(late.scrollback, live.scrollback);
      expectSame({ seed, piece }, late.state(count, false), live.state(count, false));
    }
  }
});

test("lines that are forgotten before anything else comes are not parsed, and the screen is as if they had been", () => {
  for (let seed = 1; seed <= SEEDS / 6; seed += 1) {
    const generator = new Generator(seed);
    const size = { cols: 10 + generator.below(40), rows: 3 + generator.below(15) };
    const emulator = new Emulator(size, 0, true);
    // Pieces this small are parsed whole.
    const whole = new Emulator(size, 0, true);
    const texts = () => generator.pieces(30).flatMap((piece) => ("text" in piece ? [piece.text] : []));
    const lines = Array.from({ length: 2_500 }, (_, n) => {
      const shapes = ["", `${n}`, "x".repeat(generator.below(60)), "a\tb", "1 %\r2 %", "ab\b\x07", "漢字é", "\nhigh"];
      return `${shapes[generator.below(shapes.length)]}\r\n`;
    });
    const more = lines.slice(0, generator.below(100));
    for (const output of [texts(), [...lines, ...texts(), ...more, ...texts()], ["\r\nlast\x1b8saved"]]) {
      const bytes = encoder.encode(output.join(""));
      emulator.write(bytes, size);
      for (let at = 0; at < bytes.length; at += 1_000) whole.write(bytes.subarray(at, at + 1_000), size);
      expectSame({ seed }, emulator.show(EVERYTHING), whole.show(EVERYTHING));
    }
  }
});

test.each([
  ["a title", "\x1b]0;", "\x07"],
  ["a picture", "\x1bPq", "\x18"],
  ["an application's string", "\x1b_G", "\x18"],
  ["a change of margins", "\x1b[5;10\ufeff", "x"],
  ["a hyperlink", "\x1b]8;;http://a/\x07L", ""],
])("lines behind %s that was too long to wait for, or that counts lines, leave the screen of all", (_, start, end) => {
  const size = { cols: 80, rows: 24 };
  const [emulator, whole] = [new Emulator(size, 0, true), new Emulator(size, 0, true)];
  const lines = Array.from({ length: 5_000 }, (__, n) => (n < 2_500 ? "\r\n" : `r${n}\r\n`)).join("");
  for (const output of [start + "x".repeat(end === "x" ? 0 : 70_000), `${end}${lines}`, "more\r\n"]) {
    const bytes = encoder.encode(output);
    emulator.write(bytes, size);
    for (let at = 0; at < bytes.length; at += 1_000) whole.write(bytes.subarray(at, at + 1_000), size);
  }
  expect(emulator.draw()).toEqual(whole.draw());
  expect(emulator.show(EVERYTHING)).toEqual(whole.show(EVERYTHING));
});

test("41: colours, the cursor's shape and a cursor saved at the right margin are in the snapshot, at every boundary", () => {
  for (let seed = 1; seed <= SEEDS / 3; seed += 1) {
    const generator = new Generator(seed);
    const size = { cols: 10 + generator.below(40), rows: 3 + generator.below(15) };
    const emulator = new Emulator(size, 0, true);
    const live = new Viewer(size, 0);
    const texts = [
      "one\r\ntwo 漢字",
      "\r\x1b[?1049h",
      "\x1b[41mthree\x1b[K",
      "\x1b[3;1H",
      "four\x1b[?1049l",
      "\x1bc",
      "\x1b[?12l",
    ];
    for (let step = 0; step < 30; step += 1) {
      const piece =
        generator.below(3) === 0 ? { text: texts[generator.below(texts.length)] ?? "" } : generator.besides();
      if ("cols" in piece) continue;
      emulator.write(encoder.encode(piece.text), size);
      live.write(encoder.encode(piece.text));
      const late = Viewer.of(emulator.draw());
      expectSame({ seed, step, piece }, late.state(late.scrollback), live.state(live.scrollback));
    }
  }
});

test("41: a terminal takes the blinking from what came last, and kitty's keyboard flags as they are", () => {
  const size = { cols: 20, rows: 5 };
  const drawn = (text: string): string => {
    const emulator = new Emulator(size, 0, true);
    emulator.write(encoder.encode(text), size);
    return new TextDecoder().decode(emulator.draw().bytes);
  };
  expect(drawn("\x1b[?12h\x1b[2 q")).toContain("\x1b[?12h\x1b[2 q");
  expect(drawn("\x1b[2 q\x1b[?12h")).toContain("\x1b[2 q\x1b[?12h");
  expect(drawn("\x1b[=5u")).toContain("\x1b[=5u");
  expect(drawn("\x1b[=5u\x1b[>1u\x1b[=2;2u\x1b[=1;3u")).toContain("\x1b[=5u\x1b[>2u");
  expect(drawn("\x1b[>1u\x1b[<1u\x1b[=4u\x1b[<u")).not.toContain("u");
});

test("41: who asks for a colour that was changed is told the new one", () => {
  const size = { cols: 20, rows: 5 };
  const emulator = new Emulator(size, 0, true);
  const ask = (text: string): string =>
    emulator
      .write(encoder.encode(text), size)
      .map((answer) => answer.text)
      .join("");
  expect(ask("\x1b]11;#102030\x07\x1b]11;?\x07")).toBe("\x1b]11;rgb:1010/2020/3030\x1b\\");
  expect(ask("\x1b]4;1;rgb:f/0/8;1;?\x07")).toBe("\x1b]4;1;rgb:ffff/0000/8888\x1b\\");
  expect(ask("\x1b]104\x07\x1b]111\x07\x1b]4;1;?\x07\x1b]11;?\x07")).toBe(
    "\x1b]4;1;rgb:ffff/7a7a/9090\x1b\\\x1b]11;rgb:1717/1818/1c1c\x1b\\",
  );
  expect(ask("\x1b]10;?;?\x07")).toBe("\x1b]10;rgb:e3e3/e4e4/e9e9\x1b\\\x1b]11;rgb:1717/1818/1c1c\x1b\\");
});

test("output is only cut where the emulator's parser is between sequences and characters", () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const generator = new Generator(seed);
    const text = generator
      .pieces(100)
      .map((piece) => ("text" in piece ? piece.text : ""))
      .join("");
    const bytes = encoder.encode(text);
    // Some bytes are lost, so that there are sequences without an end and broken characters, too.
    const broken = bytes.filter(() => generator.below(20) > 0);
    const boundary = new Boundary();
    const viewer = new Viewer({ cols: 40, rows: 300 }, 0);
    for (let at = 0; at < broken.length; at += 1) {
      boundary.lastSafe(broken.subarray(at, at + 1));
      if (!boundary.isSafe) continue;
      viewer.write(broken.subarray(viewer.offset, at + 1));
      const { currentState } = viewer.core._inputHandler._parser;
      if (currentState !== 0) expect({ seed, at, currentState }).toEqual({ seed, at, currentState: 0 });
    }
  }
});

test("a screen of more than 64 KiB of colours is drawn as far as there is room, and not called exact", () => {
  const size = { cols: 400, rows: 200 };
  const emulator = new Emulator(size, 0, true);
  let text = "";
  for (let row = 0; row < size.rows; row += 1) {
    for (let column = 0; column < size.cols; column += 1) text += `\x1b[38;2;${row};${column % 256};7m${column % 10}`;
  }
  emulator.write(encoder.encode(text), size);
  const snapshot = emulator.draw();
  expect(snapshot.bytes.length).toBeLessThanOrEqual(MAX_SNAPSHOT_BYTES);
  expect(snapshot.isExact).toBe(false);
  const late = Viewer.of(snapshot).core.buffers.normal;
  expect([late.x, late.y]).toEqual([size.cols, size.rows - 1]);
  expect(late.lines.get(size.rows - 1)?.getString(399)).toBe("9");
});
