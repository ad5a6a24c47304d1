// UTF-8 lengths and cuts, held against the platform's own encoder.

import fc from "fast-check";
import { expect, test } from "vitest";
import { clipUtf8, utf8Length } from "../../src/index.ts";

const encoder = new TextEncoder();

test("a text's length is what the platform's encoder makes of it", () => {
  for (const text of ["", "a", "é", "€", "😀", "a😀é€", "\u0000", "\u007f\u0080\u07ff\u0800\uffff"]) {
    expect(utf8Length(text)).toBe(encoder.encode(text).length);
  }
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 50 }), (text) => {
      expect(utf8Length(text)).toBe(encoder.encode(text).length);
    }),
    { seed: 1 },
  );
});

test("half a character outside of the basic plane counts as the replacement that it is sent as", () => {
  for (const text of ["\ud800", "\udc00", "\udc00\ud800", "a\ud83d", "\ud83d\ud83d\ude00"]) {
    expect(utf8Length(text)).toBe(encoder.encode(text).length);
  }
});

test("a cut is the longest start that fits, and never splits a character", () => {
  expect([clipUtf8("a😀b", 4), clipUtf8("a😀b", 5), clipUtf8("€€", 5), clipUtf8("abc", 0)]).toEqual([
    "a",
    "a😀",
    "€",
    "",
  ]);
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat(100), (text, limit) => {
      const cut = clipUtf8(text, limit);
      expect(text.startsWith(cut)).toBe(true);
      expect(utf8Length(cut)).toBeLessThanOrEqual(limit);
      const [next] = text.slice(cut.length);
      if (next !== undefined) expect(utf8Length(cut + next)).toBeGreaterThan(limit);
    }),
    { seed: 2, numRuns: 500 },
  );
});
