// UTF-8: lengths and cuts, held against the platform's own encoder, and streams that are cut between characters.

import fc from "fast-check";
import { expect, test } from "vitest";
import { clipUtf8, utf8Length } from "../../src/index.ts";
import { decodeUtf8, splitUtf8 } from "../../src/text/utf8-text.ts";
import { anyText } from "../support/any-text.ts";
import { cutAt } from "../support/cuts.ts";
import { bytes } from "../support/fixtures.ts";

const lengthOf = (text: string) => bytes(text).length;

test("a text's length is what the platform's encoder makes of it, half a character as the replacement that is sent", () => {
  const halves = ["\ud800", "\udc00", "\udc00\ud800", "a\ud83d", "\ud83d\ud83d\ude00"];
  for (const text of ["", "a", "é", "€", "😀", "a😀é€", "\u0000", "\u007f\u0080\u07ff\u0800\uffff", ...halves])
    expect(utf8Length(text)).toBe(lengthOf(text));
  const any = fc.property(anyText(50), (text) => utf8Length(text) === lengthOf(text));
  fc.assert(any, { seed: 1 });
});

test("a cut is the longest start that fits, and never splits a character", () => {
  const cuts = [clipUtf8("a😀b", 4), clipUtf8("a😀b", 5), clipUtf8("€€", 5), clipUtf8("abc", 0)];
  expect(cuts).toEqual(["a", "a😀", "€", ""]);
  fc.assert(
    fc.property(anyText(60), fc.nat(100), (text, limit) => {
      const cut = clipUtf8(text, limit);
      expect(text.startsWith(cut)).toBe(true);
      expect(utf8Length(cut)).toBeLessThanOrEqual(limit);
      const [next] = text.slice(cut.length);
      if (next !== undefined) expect(utf8Length(cut + next)).toBeGreaterThan(limit);
    }),
    { seed: 2 },
  );
});

test("however any bytes are cut, the pieces are whole characters, as many as when they come at once", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.array(fc.nat()), (raw, places) => {
      let tail: Uint8Array = new Uint8Array(0);
      let texts = "";
      for (const piece of cutAt(raw, places)) {
        const split = splitUtf8(tail, piece);
        texts += decodeUtf8(split.whole);
        tail = split.tail;
        expect(tail.length).toBeLessThanOrEqual(3);
        expect(tail.buffer).not.toBe(piece.buffer);
      }
      expect(texts + decodeUtf8(tail)).toBe(decodeUtf8(raw));
    }),
  );
});

test("bytes that begin with a whole character are not copied", () => {
  const raw = bytes("abc日");
  expect(splitUtf8(new Uint8Array(0), raw).whole.buffer).toBe(raw.buffer);
});
