// Cutting a stream of bytes between characters, however it comes.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeUtf8, splitUtf8 } from "../../src/text/utf8-text.ts";
import { bytes } from "../support/fixtures.ts";

/** The texts of a stream that comes in these pieces, and its rest. */
function texts(pieces: readonly Uint8Array[]): string[] {
  let tail: Uint8Array = new Uint8Array(0);
  const found: string[] = [];
  for (const piece of pieces) {
    const split = splitUtf8(tail, piece);
    found.push(decodeUtf8(split.whole));
    tail = split.tail;
  }
  return [...found, decodeUtf8(tail)];
}

/** `raw`, cut at these places. */
function cutAt(raw: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (raw.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => raw.subarray(from, at[index] ?? raw.length));
}

describe("splitUtf8", () => {
  test("however text is cut, its pieces are whole characters and together the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.nat()), (text, places) => {
        const parts = texts(cutAt(bytes(text), places));
        expect(parts.join("")).toBe(decodeUtf8(bytes(text)));
      }),
    );
  });

  test("however any bytes are cut, as many characters stand for them as when they come at once", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.array(fc.nat()), (raw, places) => {
        expect(texts(cutAt(raw, places)).join("")).toBe(decodeUtf8(raw));
      }),
    );
  });

  test("holds back three bytes at most, in memory of its own", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (raw) => {
        const { whole, tail } = splitUtf8(new Uint8Array(0), raw);
        expect(tail.length).toBeLessThanOrEqual(3);
        expect([...whole, ...tail]).toEqual([...raw]);
        expect(tail.buffer).not.toBe(raw.buffer);
      }),
    );
  });

  test("makes no copy of what begins with a whole character", () => {
    const raw = bytes("abc日");
    expect(splitUtf8(new Uint8Array(0), raw).whole.buffer).toBe(raw.buffer);
  });
});
