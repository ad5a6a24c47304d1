// What redaction hides, played in xterm.js: text that a line showed at any time is never shown where a pattern matches it, however it was drawn.

import { readdirSync, readFileSync } from "node:fs";
import { compilePattern } from "@sbx/api/patterns";
import headless from "@xterm/headless";
import { Redactor } from "sandbox-stdio/recording";
import { expect, test } from "vitest";

type Size = { readonly cols: number; readonly rows: number };
const RECORDINGS = new URL("../../../../sandbox/test/screen/recordings/", import.meta.url);
const SEED = Number(process.env.SIM_SEED ?? 0);
/** Runs of each random test; `test:long` makes 2,000. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 25);

/** Repeatable random numbers. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

function redacted(output: Uint8Array, size: Size, literal: string): Uint8Array {
  const compiled = compilePattern(literal.replace(/[^\w ]/gu, "\\$&"));
  if (!compiled.ok) throw new Error(compiled.message);
  const bytes = output.slice();
  new Redactor([compiled.program]).redact(bytes, size);
  return bytes;
}

const shell = (terminal: headless.Terminal) =>
  (terminal as unknown as { _core: { writeSync(data: Uint8Array): void } })._core;

/** The lines of a terminal's screen, those that were wrapped as one. */
function linesOf({ buffer: { active }, rows }: headless.Terminal): string[] {
  const lines: string[] = [];
  for (let y = 0; y < rows; y += 1) {
    const line = active.getLine(active.baseY + y);
    const text = line?.translateToString() ?? "";
    if (line?.isWrapped === true && y > 0) lines.push(`${lines.pop()}${text}`);
    else lines.push(text);
  }
  return lines;
}

function terminalOf(size: Size): headless.Terminal {
  return new headless.Terminal({ ...size, scrollback: 0, allowProposedApi: true, logLevel: "off" });
}

/** Words that the screen shows at some of the offsets. */
function seen(output: Uint8Array, size: Size, offsets: readonly number[], random: (below: number) => number) {
  const terminal = terminalOf(size);
  let fed = 0;
  const words = offsets.flatMap((offset) => {
    shell(terminal).writeSync(output.subarray(fed, offset));
    fed = offset;
    const all = linesOf(terminal).flatMap((line) => line.match(/[!-~]{4,}/g) ?? []);
    const word = all[random(Math.max(1, all.length))];
    return word === undefined ? [] : [{ offset, word }];
  });
  terminal.dispose();
  return words;
}

function expectHidden(
  output: Uint8Array,
  size: Size,
  random: (below: number) => number,
  places: readonly number[],
): number {
  const offsets = places.toSorted((a, b) => a - b);
  const words = seen(output, size, offsets, random);
  for (const { offset, word } of words) {
    const hidden = redacted(output, size, word);
    expect(hidden.length).toBe(output.length);
    const terminal = terminalOf(size);
    shell(terminal).writeSync(hidden.subarray(0, offset));
    expect(linesOf(terminal).join("\n"), `"${word}" at ${offset}`).not.toContain(word);
    terminal.dispose();
    expect(Buffer.from(hidden).includes(word)).toBe(false);
  }
  return words.length;
}

const NAMES = readdirSync(RECORDINGS).flatMap((file) => (file.endsWith(".bin") ? [file.slice(0, -4)] : []));

test.each(NAMES)("G1: of %s, no word that was on the screen is there once a pattern hides it", (name) => {
  const size = JSON.parse(readFileSync(new URL(`${name}.json`, RECORDINGS), "utf8")) as Size;
  const random = randomOf(SEED + 1);
  const output = readFileSync(new URL(`${name}.bin`, RECORDINGS));
  const offsets = Array.from({ length: Math.max(4, Math.floor(RUNS / 50)) }, () => random(output.length + 1));
  expect(expectHidden(output, size, random, offsets)).toBeGreaterThan(0);
});

/** A step of a program that draws at random. */
function step(random: (below: number) => number, { cols, rows }: Size): string {
  const some = (most: number) => random(most) + 1;
  const letters = () => Array.from({ length: some(5) }, () => String.fromCharCode(97 + random(26))).join("");
  const kinds: (() => string)[] = [
    ...Array.from({ length: 12 }, () => letters),
    () => `\x1b[${some(rows)};${some(cols)}H`,
    () => `\x1b[${some(4)}${"ABCDEFGIZ`ade"[random(13)]}`,
    () => `\x1b[${random(3)}${"JK"[random(2)]}`,
    () => `\x1b[${some(3)}${"@PXLMSTb"[random(8)]}`,
    () => ["\r", "\n", "\b", "\t", "\r\n", "\x1bM", "\x1bD", "\x1bE", "\x1b7", "\x1b8"][random(10)] ?? "",
    () => ["\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[31m", "\x1b[s", "\x1b[u"][random(7)] ?? "",
    () => ["\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[2;4r", "\x1b[r", "\x1bc"][random(7)] ?? "",
  ];
  return (kinds[random(kinds.length)] ?? letters)();
}

test("G1: no word is on the screen that a pattern hides, whatever a program draws", () => {
  for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
    const random = randomOf(seed);
    const size = { cols: 6 + random(20), rows: 2 + random(6) };
    const steps = Array.from({ length: 200 }, () => step(random, size));
    // A run of characters that replaces others is looked at before it and behind it. Colours do not end it.
    const ends = steps.flatMap((_, i) =>
      /^[a-z]/.test(
        steps
          .slice(i + 1)
          .join("")
          .replaceAll("\x1b[31m", ""),
      )
        ? []
        : [steps.slice(0, i + 1).join("").length],
    );
    const offsets = Array.from({ length: 3 }, () => ends[random(ends.length)] ?? 0);
    try {
      expectHidden(Buffer.from(steps.join("")), size, random, offsets);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});

test("G1: a secret drawn in any order is neither on the screen at any offset nor in the bytes", () => {
  const secret = "sk-0123456789";
  for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
    const random = randomOf(seed);
    const size = { cols: 5 + random(30), rows: 6 };
    const first = random(size.cols);
    // Around it is text, as wide as the screen: its line is wrapped.
    const noise = Array.from({ length: 4 * size.cols }, () => "xyz "[random(4)]).join("");
    const cells = Array.from(secret, (character, i) => ({ character, at: first + i }));
    const drawn = cells
      .toSorted(() => random(3) - 1)
      .flatMap(({ character, at }) => {
        const to = `\x1b[${Math.floor(at / size.cols) + 1};${(at % size.cols) + 1}H`;
        return random(3) === 0 ? [`${to}#`, `${to}${character}`] : [`${to}${character}`];
      });
    const output = Buffer.from(`${noise}${drawn.join("\x1b[32m")}\x1b[6;1Hend`);
    const hidden = redacted(output, size, secret);
    const terminal = terminalOf(size);
    for (let at = 0; at < hidden.length; at += 1) {
      shell(terminal).writeSync(hidden.subarray(at, at + 1));
      expect(linesOf(terminal).join("\n"), `seed ${seed} at ${at}`).not.toContain(secret);
    }
    expect(linesOf(terminal)[0], `seed ${seed}`).toContain("*".repeat(secret.length));
    expect(Buffer.from(hidden).includes(secret)).toBe(false);
  }
});

test("G1: a line that a margin tears, and one that a margin joins, are hidden", () => {
  const size = { cols: 12, rows: 6 };
  const torn = "\x1b[2;4r\x1b[4;1Hhrtpfdshkfgzkiss\x1b[1L";
  const joined = "\x1b[2;4rhrtpfdshkfgzzxkrstaugfofki\x1bEcxjiblitingyr";
  expect(Buffer.from(redacted(Buffer.from(torn), size, "fgzkis")).toString()).toContain("hrtpfdshk******s");
  expect(Buffer.from(redacted(Buffer.from(joined), size, "fgzki")).toString()).toContain("hrtpfdshk***zxkrstaugfof**");
});

test("G1: the alternate screen keeps its saved cursor while the main one is shown", () => {
  const output = Buffer.from("\x1b[?47h\x1b[?7l\x1b[s\x1b[?47l\x1b[?1049h\x1b[u\x1b[6;8Hsecrab");
  // The screen wraps no lines again: each character behind the last column replaces the one before.
  expect(Buffer.from(redacted(output, { cols: 12, rows: 6 }, "secrb")).toString()).toMatch(/H\*{4}a\*$/);
});

test("G1: what stood on the screen before the next character of the same text replaced it is hidden", () => {
  const compiled = compilePattern("[a-m]{2}");
  if (!compiled.ok) throw new Error(compiled.message);
  // "b" comes onto a blank cell beside "f", which "v" replaces.
  const output = Buffer.from("xpwf\rsd\x1b[1Kbv");
  new Redactor([compiled.program]).redact(output, { cols: 20, rows: 5 });
  expect(output.toString()).toBe("xpw*\rsd\x1b[1K*v");
});

test.each([1, 3, 60])(
  "G1: what is hidden does not depend on where output is cut, in pieces of up to %i bytes",
  (most) => {
    const size = { cols: 20, rows: 5 };
    const odd = "\x1b]0;tok-en\x1b\\\xe9\x1b[3\rCé✓漢\x1b[1\x18\x9b2Cabc\x1bP1q#0\x1b\\\x1b\x1b[Hx\x85y";
    const compiled = compilePattern("[a-m]{2}|tok|漢");
    if (!compiled.ok) throw new Error(compiled.message);
    for (let seed = SEED; seed < SEED + RUNS; seed += 1) {
      const random = randomOf(seed + 7);
      const output = Buffer.from(`${Array.from({ length: 150 }, () => step(random, size)).join("")}${odd}`);
      const redactor = new Redactor([compiled.program]);
      for (let at = 0; at < output.length; ) {
        const end = Math.min(output.length, at + 1 + random(most));
        redactor.push(output.subarray(at, end), at, size);
        at = end;
      }
      redactor.settle();
      const whole = Buffer.from(output);
      new Redactor([compiled.program]).redact(whole, size);
      const parts = Buffer.alloc(output.length);
      redactor.read(0, parts);
      expect([seed, parts.toString("latin1")]).toEqual([seed, whole.toString("latin1")]);
    }
  },
);
