// Names: which are taken for one another, and how they are told apart.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_NAME_BYTES } from "../../src/index.ts";
import { latinLookOf } from "../../src/session/look-alikes.ts";
import { areAlike, distinctName } from "../../src/session/names.ts";

/** Every character that Unicode says looks like a Latin letter or digit, by what it looks like. */
const LOOKS = new Map<string, string[]>();
for (let point = 0x80; point < 0x20000; point += 1) {
  if (point >= 0xd800 && point < 0xe000) continue;
  const character = String.fromCodePoint(point);
  const latin = latinLookOf(character);
  if (latin !== undefined) LOOKS.set(latin, [...(LOOKS.get(latin) ?? []), character]);
}
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

describe("L11: is taken for another", () => {
  test.each([
    ["the same", "Bob", "Bob"],
    ["another case", "Bob", "bOB"],
    ["full width", "Bob", "\uff22\uff4f\uff42"],
    ["mathematical letters", "Bob", "\u{1d401}\u{1d428}\u{1d41b}"],
    ["Cyrillic", "Oscar", "\u041e\u0455\u0441\u0430\u0433"],
    ["Cyrillic capitals", "HECTOP", "\u041d\u0415\u0421\u0422\u041e\u0420"],
    ["Greek capitals", "NIKE", "\u039d\u0399\u039a\u0395"],
    ["Greek small letters", "vouvo", "\u03bd\u03bf\u03c5\u03bd\u03bf"],
    ["Greek in another case", "\u039d\u03af\u03ba\u03bf\u03c2", "\u03bd\u03af\u03ba\u03bf\u03c2"],
    ["Cherokee", "SARA", "\u13da\u13aa\u13a1\u13aa".replace("\u13a1", "R")],
    ["Armenian", "hono", "\u0570\u0585\u0578\u0585"],
    ["small capitals", "bob", "\u0299\u1d0f\u0299"],
    ["digits", "Bob Lil", "B0b L1l"],
    ["a bar and a dotless i", "Lili", "|\u0131l|"],
    ["accents", "Zoe", "Zo\u00eb"],
    ["a stroke", "Soren", "S\u00f8ren"],
    ["spaces and signs", "Ann Lee", "Ann-Lee."],
    ["two letters for one", "Adam", "Adarn"],
    ["no letters at all", "\u{1f642}", "\u{1f642}"],
    ["Lisu", "Alice Bill", "Alice Bi\ua4e1l"],
    ["a digit like a capital", "Alice Bill", "Alice 8ill"],
    ["Canadian syllabics", "Alice", "\u15c5lice"],
    ["a symbol like a letter", "Alice", "\u237alice"],
    ["a letter like two", "Adam", "Ada\u{118e3}"],
  ])("%s: %s and %s", (_what, a, b) => {
    expect([areAlike(a, b), areAlike(b, a)]).toEqual([true, true]);
  });

  test.each([
    ["Bob", "Bobby"],
    ["Ann", "Anna"],
    ["\u{1f642}", "\u{1f643}"],
    ["\u5f20\u4f1f", "\u5f20\u73ae"],
    ["Bob (2)", "Bob (3)"],
  ])("not: %s and %s", (a, b) => {
    expect(areAlike(a, b)).toBe(false);
  });
});

test("L11: a name whose letters are replaced by any that look like them is taken for it", () => {
  // Unicode's list has hundreds, and none for a few letters.
  expect([...LOOKS.values()].flat().length).toBeGreaterThan(450);
  const letters = fc.constantFrom(...LETTERS).chain((letter) => {
    const others = [letter, letter.toUpperCase(), ...(LOOKS.get(letter) ?? [])];
    return fc.constantFrom(...others).map((other) => [letter, other] as const);
  });
  const names = fc.array(letters, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(names, (pairs) => {
      const [name, other] = [pairs.map(([letter]) => letter).join(""), pairs.map(([, look]) => look).join("")];
      expect([name, other, areAlike(name, other)]).toEqual([name, other, true]);
    }),
    { numRuns: 500 },
  );
});

test("L11: of a range of letters each looks like the same, the last one too", () => {
  expect(["\u0221", "\u0222", "\u0223", "\u0224"].map(latinLookOf)).toEqual([undefined, "8", "8", undefined]);
});

test("L11: numbers are told apart, whatever digits look like", () => {
  fc.assert(
    fc.property(fc.nat(99_999), fc.nat(99_999), (a, b) => areAlike(`worker-${a}`, `worker-${b}`) === (a === b)),
    { numRuns: 500 },
  );
});

describe("L11: told apart", () => {
  test("by the first number that is free, however many there are", () => {
    const names: string[] = [];
    for (let i = 0; i < 64; i += 1) names.push(distinctName(i % 2 === 0 ? "Bob" : "b\u043eb", names));
    expect(names.slice(0, 3)).toEqual(["Bob", "b\u043eb (2)", "Bob (3)"]);
    const alike = names.flatMap((name, i) => names.slice(i + 1).filter((other) => areAlike(name, other)));
    expect(alike).toEqual([]);
  });

  test("within the length of a name, never in the midst of a character", () => {
    const long = "\u00e9".repeat(32);
    expect(new TextEncoder().encode(long)).toHaveLength(MAX_NAME_BYTES);
    expect(distinctName(long, [long])).toBe(`${"\u00e9".repeat(30)} (2)`);
  });

  test("but not those who have no name", () => {
    expect(distinctName("", ["", ""])).toBe("");
  });
});
