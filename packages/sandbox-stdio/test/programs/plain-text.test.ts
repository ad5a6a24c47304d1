// D4, T2 and T3: output as plain text, and where it lies in the log.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PlainMap } from "../../src/programs/plain-runs.ts";
import { MAX_PLAIN_LINE, PlainText, plainTextOf } from "../../src/programs/plain-text.ts";
import { referencePlain } from "./reference-plain.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const bytes = (text: string) => new TextEncoder().encode(text);
const plain = (text: string) => plainTextOf(bytes(text));

/** Pushes pieces one after the other and applies each change to what is known. */
function stream(pieces: readonly Uint8Array[], offset = 0): { text: string; map: PlainMap } {
  const converter = new PlainText();
  const map = new PlainMap();
  let text = "";
  let at = offset;
  let settled = 0;
  const apply = () => {
    const change = converter.drain();
    expect(change.at).toBeGreaterThanOrEqual(settled);
    expect(change.at).toBeLessThanOrEqual(text.length);
    text = text.slice(0, change.at) + change.text;
    map.replace(change.at, change.runs);
    settled = change.settled;
  };
  for (const piece of pieces) {
    converter.push(piece, at);
    at += piece.length;
    apply();
  }
  converter.finish();
  apply();
  return { text, map };
}

const fragment = fc.oneof(
  fc.constantFrom("\r\n", "\n", "\r", "\b", "\t", "\x07", "\f", "\0", "\x1b7", "\x1b(B", "\x1b=", "\x1b\\"),
  fc.constantFrom("\x1b[31m", "\x1b[0;1;38:5:9m", "\x1b[?25l", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[G", "\x1b[5C"),
  fc.constantFrom("\x1b]0;title\x07", "\x1b]8;;http://x/\x1b\\", "\x1bP1$r0m\x1b\\", "\x1b_Gi=1;AA\x1b\\", "\u009b1m"),
  fc.constantFrom("\u009d2;ü\u009c", "\x1b^private\x1b\\", "\x1bXstart\x1b\\", "\u0085", "\u009c", "\ufeff"),
  fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "日", "🦊", "1") }),
);
const output = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: fragment.map(bytes) },
      { weight: 1, arbitrary: fc.uint8Array({ min: 0xa0, maxLength: 4 }) },
    ),
  )
  .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])));

describe("D4: plain", () => {
  test.each<[string, ...[output: string, plain: string][]]>([
    [
      "leaves out escape sequences of every kind",
      ["a\x1b[1;31mb\x1b]0;title\x07c\x1bP1$r\x1b\\d\x1b_x\x1b\\e\x1b(Bf\u009b0mg\x1b^p\x1b\\h", "abcdefgh"],
    ],
    ["\\r\\n is \\n, also as \\r\\r\\n", ["one\r\ntwo\r\r\n\r\nthree\n", "one\ntwo\n\nthree\n"]],
    [
      "a lone carriage return leaves out as much as was overwritten",
      ["hello\rHE\n", "HEllo\n"],
      [" 10%\r 50%\r100%\r\ndone", "100%\ndone"],
      ["long line\rshort", "shortline"],
    ],
    [
      "a backspace leaves out the character that is then overwritten",
      ["ls -lx\b \b", "ls -l "],
      ["N\bNA\bAM\bME\bE\n", "NAME\n"],
      ["\b\bx", "x"],
    ],
    [
      "a line that is erased, and a return by column, are overwritten too",
      ["downloading 90%\r\x1b[Kdone\n", "done\n"],
      ["⠋ working\x1b[2K\x1b[1G✔ ready\n", "✔ ready\n"],
      ["abc\x1b[2Kd", "   d"],
      ["abc\r\x1b[1Kd", "dbc"],
    ],
  ])("D4: %s", (_rule, ...cases) => {
    expect(cases.map(([output]) => plain(output))).toEqual(cases.map(([, shown]) => shown));
  });

  test("bytes that are no UTF-8 are replaced as TextDecoder does, and BEL and NUL draw nothing", () => {
    const raw = Uint8Array.of(0x61, 0xe2, 0x82, 0x62, 0xff, 0xed, 0xa0, 0x80, 0xf0, 0x9f, 0x07, 0x00, 0xc3);
    expect(plainTextOf(raw)).toBe("a\ufffdb\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd");
  });

  test("equals the reference, wherever the output is cut", () => {
    fc.assert(
      fc.property(output, fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), (all, cuts) => {
        const whole = referencePlain(all);
        expect(plainTextOf(all)).toBe(whole);
        const ends = [...new Set([...cuts.map((cut) => Math.min(cut, all.length)), all.length])].sort((a, b) => a - b);
        expect(stream(ends.map((end, i) => all.subarray(ends[i - 1] ?? 0, end))).text).toBe(whole);
        expect(stream([...all].map((byte) => Uint8Array.of(byte))).text).toBe(whole);
      }),
      { numRuns: RUNS },
    );
  });

  test("T3: each character's place in the log holds that character", () => {
    fc.assert(
      fc.property(output, fc.nat({ max: 100 }), (all, cut) => {
        const { text, map } = stream([all.subarray(0, cut), all.subarray(cut)], 1_000);
        let at = 0;
        for (const character of text) {
          const there = all.subarray(map.startOf(at) - 1_000, map.endOf(at + character.length) - 1_000);
          if (character === "\n") expect([10, 11, 12]).toContain(there[0]);
          // A blank may stand for a character that was erased.
          else if (character !== " " && character !== "\ufffd")
            expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(there)).toBe(character);
          at += character.length;
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("what is settled never changes, and a line keeps no more than MAX_PLAIN_LINE characters", () => {
    const long = "x".repeat(MAX_PLAIN_LINE);
    expect(plain(`${long}y\rz\n`)).toBe(`${long}z\n`);
    expect(plain(`${long}\rz\n`)).toBe(`z${long.slice(1)}\n`);
    const converter = new PlainText();
    converter.push(bytes(`${long}yy`), 0);
    expect(converter.drain().settled).toBe(MAX_PLAIN_LINE);
  });

  test("tells where a character or a sequence began that is not whole", () => {
    const converter = new PlainText();
    const pendingAfter = (text: Uint8Array, offset: number) => {
      converter.push(text, offset);
      return converter.pendingFrom;
    };
    expect(pendingAfter(bytes("abc"), 10)).toBe(undefined);
    expect(pendingAfter(bytes("é").subarray(0, 1), 13)).toBe(13);
    expect(pendingAfter(Uint8Array.of(0xa9, 0x1b, 0x5d), 14)).toBe(15);
    expect(pendingAfter(bytes("0;title"), 17)).toBe(15);
    expect(pendingAfter(bytes("\x07x"), 24)).toBe(undefined);
  });
});
