// That no character is lost in stock xterm.js, however a stream of output is cut: in the emulator itself.

import headless from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SplitCharacters } from "../../src/text/split-characters.ts";
import { cutAt } from "../support/cuts.ts";
import { bytes } from "../support/fixtures.ts";

/** What comes out for these pieces, the last of it when nothing follows any more. */
function passed(pieces: readonly Uint8Array[]): Uint8Array[] {
  const characters = new SplitCharacters();
  return [...pieces.map((piece) => characters.pass(piece).slice()), characters.flush()];
}

/** What a terminal shows that is written these one by one. */
async function drawn(pieces: readonly Uint8Array[]): Promise<string> {
  const terminal = new headless.Terminal({ cols: 500, rows: 2, allowProposedApi: true });
  for (const piece of pieces) terminal.write(piece);
  await new Promise<void>((resolve) => terminal.write("", resolve));
  const line = terminal.buffer.active.getLine(0)?.translateToString(true) ?? "";
  terminal.dispose();
  return line;
}

const eachByte = (raw: Uint8Array): Uint8Array[] => Array.from(raw, (byte) => Uint8Array.of(byte));

/** Of every length, with a byte 80 in every place and in none; some of them can't be lost. */
const TEXT = "é日…。、က一퀀ﬀ👀👩🀀🀄𐀀𠀀𠀁\u{40000}\u{41000}.";

describe("characters that are cut", () => {
  test("are drawn by xterm.js 6.1; 6.0 and older, which others' pages have, lose them", async () => {
    expect(await drawn([bytes("。").subarray(0, 2), bytes("。").subarray(2)])).toBe("。");
  });

  test("are drawn whole, byte by byte and cut anywhere", async () => {
    const raw = bytes(TEXT);
    expect(await drawn(passed(eachByte(raw)))).toBe(TEXT);
    for (let cut = 0; cut <= raw.length; cut += 1) expect(await drawn(passed(cutAt(raw, [cut])))).toBe(TEXT);
  });

  test("of any text are drawn as if it had come at once", async () => {
    const text = fc.stringMatching(/^[a é…。、👀🀀日]{0,40}$/u);
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat()), async (line, places) => {
        expect(await drawn(passed(cutAt(bytes(`${line}.`), places)))).toBe(`${line}.`);
      }),
      { numRuns: 100 },
    );
  });
});

describe("characters that must not be cut", () => {
  test("come whole, one by one", () => {
    const characters = new SplitCharacters(true);
    const frames = eachByte(bytes(TEXT)).map((piece) => Buffer.from(characters.pass(piece)).toString());
    expect(frames.filter((frame) => frame !== "")).toEqual([...TEXT]);
  });
});

describe.each([false, true])("bytes of any kind, where no character may be cut: %j", (isEveryWhole) => {
  const most = isEveryWhole ? 3 : 2;
  /** Many that begin and go on with characters. */
  const raw = fc.array(fc.constantFrom(0x41, 0x80, 0x81, 0xc2, 0xe0, 0xe3, 0xed, 0xf0, 0xf4, 0xff));

  test(`come out once, in order, all but ${most} at once, and the rest at the end`, () => {
    fc.assert(
      fc.property(raw, fc.array(fc.nat()), (values, places) => {
        const pieces = cutAt(Uint8Array.from(values), places);
        const characters = new SplitCharacters(isEveryWhole);
        let [came, left] = [0, 0];
        const out: number[] = [];
        for (const piece of pieces) {
          came += piece.length;
          const ready = characters.pass(piece);
          left += ready.length;
          out.push(...ready);
          expect(came - left).toBeLessThanOrEqual(most);
        }
        expect([...out, ...characters.flush()]).toEqual(values);
      }),
    );
  });

  test("are neither copied nor held where the last of them end a character", () => {
    const characters = new SplitCharacters(isEveryWhole);
    for (const text of ["ls\r\n", "日本。", "\xff", ""]) {
      const piece = bytes(text);
      expect(characters.pass(piece)).toBe(piece);
    }
    // Whoever sends them may use their memory again.
    const piece = Uint8Array.of(0xe3, 0x80);
    characters.pass(piece);
    piece.fill(0x41);
    expect([...characters.pass(Uint8Array.of(0x82))].slice(-2)).toEqual([0x80, 0x82]);
  });
});
