// Names: which are taken for one another, and how they are told apart.

import { describe, expect, test } from "vitest";
import { areAlike, distinctName, MAX_NAME_BYTES } from "../src/index.ts";

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

describe("L11: told apart", () => {
  test("by the first number that is free, however many there are", () => {
    const names: string[] = [];
    for (let i = 0; i < 64; i += 1) names.push(distinctName(i % 2 === 0 ? "Bob" : "b\u043eb", names));
    expect(names.slice(0, 3)).toEqual(["Bob", "b\u043eb (2)", "Bob (3)"]);
    for (const [i, name] of names.entries()) {
      for (const other of names.slice(i + 1))
        expect([name, other, areAlike(name, other)]).toEqual([name, other, false]);
    }
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
