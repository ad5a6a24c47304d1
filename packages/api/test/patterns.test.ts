// T2 to T4: expressions over output as it comes. The reference for what matches is re2js's own engine over the whole text.

import fc from "fast-check";
import { RE2JS } from "re2js";
import { OutputLog, STREAM_STDOUT } from "sandbox-stdio/core";
import {
  OutputSearch,
  PatternMachine,
  type PatternProgram,
  SEARCHED_UNITS,
  type SearchMatch,
  type SearchTarget,
} from "sandbox-stdio/programs";
import { describe, expect, test, vi } from "vitest";
import { compilePattern, MAX_PATTERN_INSTRUCTIONS, MAX_PATTERN_LENGTH, patternSize } from "../src/patterns.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function program(source: string, flags = ""): PatternProgram {
  const result = compilePattern(source, flags);
  if (!result.ok) throw new Error(result.message);
  return result.program;
}

const pattern = (source: string, flags = ""): SearchTarget => ({ kind: "pattern", program: program(source, flags) });

/** Searches pieces of output as they come. @returns The match and after how many pieces it was found. */
function search(target: SearchTarget, pieces: readonly string[], work?: number): [SearchMatch, number] | undefined {
  const log = new OutputLog({ cols: 80, rows: 24 });
  const wanted = new OutputSearch(target, 0);
  for (const [i, piece] of pieces.entries()) {
    log.append(bytes(piece), STREAM_STDOUT);
    const advance = () => wanted.advance(log, work === undefined ? undefined : { left: work });
    let progress = advance();
    while (progress.kind === "more") progress = advance();
    if (progress.kind === "found") return [progress.match, i];
  }
  return undefined;
}

/** What re2js's own engine finds in a text. */
function reference(source: string, flags: string, text: string) {
  const bitOf = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL } as const;
  const bits = [...flags].reduce((sum, flag) => sum | bitOf[flag as keyof typeof bitOf], 0);
  const matcher = RE2JS.compile(source, bits).matcher(text);
  if (!matcher.find()) return undefined;
  const groups = Array.from({ length: matcher.groupCount() }, (_, i) => matcher.group(i + 1));
  return { at: matcher.start(), text: matcher.group() ?? "", groups };
}

const atom = fc.constantFrom(
  ...["a", "b", ".", "[ab]", "[^a]", "\\w", "\\b", "\\B", "^", "$", "\\n", "\\s", "é", "(?i:B)", "🦊", "\\A", "\\z"],
);
const source = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    atom,
    fc.tuple(tie("node"), tie("node")).map(([x, y]) => `${x}${y}`),
    fc.tuple(tie("node"), tie("node")).map(([x, y]) => `(?:${x}|${y})`),
    tie("node").map((x) => `(${x})`),
    fc
      .tuple(tie("node"), fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}"))
      .map(([x, q]) => `(?:${x})${q}`),
  ),
})).node;
/** Items whose end is easily misread, between those of {@link source}. */
const TRICKY = [
  "\\Qa{3}\\E \\Q\\E []a] [^]\\]] [[:alpha:]] [[:a] \\x{41} \\x41 \\101 \\\\ \\( \\[ (?i) (?i: (?P<n> (?<m> (?: ( ) |",
  "(?:) () { } {,3} {03} {0} {2} {0,3} {2,} {0,} * + ? [ ] ^ - \\pL \\p{Greek} \\PN [a\\pL] [^\\x00-\\x{10FFFF}] ab",
];
const sizedSource = fc
  .array(fc.oneof(source, fc.constantFrom(...TRICKY.flatMap((items) => items.split(" ")))), { maxLength: 12 })
  .map((items) => items.join(""));
const flagSet = fc.subarray(["i", "m", "s"]).map((set) => set.join(""));
const piece = fc.string({ unit: fc.constantFrom("a", "b", "B", " ", "\n", "é", "🦊"), maxLength: 12 });

describe("T4: limits", () => {
  test("T4: at most 1,000 characters", () => {
    expect([MAX_PATTERN_LENGTH, MAX_PATTERN_INSTRUCTIONS]).toEqual([1_000, 10_000]);
    expect(compilePattern("a".repeat(1_000)).ok).toBe(true);
    expect(compilePattern("a".repeat(1_001))).toEqual({ ok: false, message: "more than 1000 characters" });
  });

  test("T4: at most 10,000 instructions", () => {
    expect(compilePattern("(?:(?:a|b|c){10}){90}").ok).toBe(true);
    expect(compilePattern("(?:a?b?c?d?e?f?){990}")).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^\d+ instructions, more than 10000$/),
    });
  });

  test("T4: the size is told from the text, never too small", () => {
    fc.assert(
      fc.property(sizedSource, flagSet, (source, flags) => {
        let size: number;
        try {
          size = RE2JS.compile(source, flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0).programSize();
        } catch {
          return; // Not an expression.
        }
        expect(patternSize(source, flags).instructions).toBeGreaterThanOrEqual(size);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
    );
  });

  test("T4: counted repetitions are multiplied out; what is quoted or in a class repeats nothing", () => {
    for (const [source, instructions] of [
      ["\\pL{0,1000}", 2 + 2_000],
      ["\\pL{0,1000}".repeat(90), 2 + 180_000],
      ["(?:(a|b){2,5}c)+", 2 + 5 * (3 + 2) + 3 + 1 + 1],
      ["\\Qa{9}\\E{3}", 2 + 3 + 3],
      ["a(?i){3}[]{9}]\\{{2}\\x{41}{2}x{00}", 2 + 3 + 1 + 2 + 2 + 5],
    ] as const) {
      expect([source, patternSize(source).instructions]).toEqual([source, instructions]);
    }
  });

  test("T4: what is too large is not compiled", () => {
    const compile = vi.spyOn(RE2JS, "compile");
    for (const [source, message] of [
      ["\\pL{0,1000}".repeat(90), "180002 instructions, more than 10000"],
      ["(?:(?:\\pL{10}){10}){101}", "10102 instructions, more than 10000"],
      ["\\pL|".repeat(240), "too many Unicode classes"],
      [`[${"\\pL".repeat(330)}]`, "too many Unicode classes"],
      [`(?i)${"[b-\\x{ffff}]".repeat(70)}`, "too many Unicode classes"],
      [`(?i)${"[\\d--\\x{ffff}]".repeat(50)}`, "too many Unicode classes"],
    ] as const) {
      expect(compilePattern(source)).toEqual({ ok: false, message });
    }
    expect(compile).not.toHaveBeenCalled();
    compile.mockRestore();
  });

  test("T4: Unicode classes, counted, and ranges of any width are taken", () => {
    for (const good of ["\\pL{1,64}=\\p{Greek}+", "(?i)[一-鿿]+[^\\x{80}-\\x{ffff}]", "\\p{Lu}".repeat(50)]) {
      expect([good, compilePattern(good).ok]).toEqual([good, true]);
    }
  });

  test("T4: what begins with ^ is compiled as anything else, and told of its faults as it was written", () => {
    expect(search(pattern("^(a|b){2}$"), ["ab"])?.[0]).toMatchObject({ text: "ab", groups: ["b"] });
    const message = "error parsing regexp: missing closing ): `a(`";
    expect(compilePattern("a(")).toEqual({ ok: false, message });
  });

  test("T4: RE2 syntax: no back references, no lookarounds; flags are i, m and s", () => {
    for (const bad of ["(a)\\1", "(?=a)", "(?<=a)b", "(?<!a)b", "a(", "[z-a]", "a**", "a{1001}"]) {
      expect([bad, compilePattern(bad).ok]).toEqual([bad, false]);
    }
    expect(compilePattern("a", "ims").ok).toBe(true);
    for (const flags of ["g", "ii", "imsx"]) expect(compilePattern("a", flags).ok).toBe(false);
  });

  test("T4: an expression made for backtracking engines takes work in proportion to the text", () => {
    const work = (source: string, length: number) => {
      const machine = new PatternMachine(program(source), "find", 0);
      machine.feed("a".repeat(length), 0, length, Number.MAX_SAFE_INTEGER);
      return machine.work / length;
    };
    for (const hostile of ["(a+)+x", "(a|aa)+x", "(a*)*b", "(.*)(.*)(.*)(.*)x", "(?:a?){200}a{200}x"]) {
      expect(work(hostile, 2_000)).toBeLessThan(work(hostile, 1_000) * 1.1);
      expect(work(hostile, 1_000)).toBeLessThan(2 * program(hostile).ops.length);
    }
  });

  test("T4: it stops when its allowance is used up, and goes on", () => {
    const machine = new PatternMachine(program("(?:[ab]?){900}c"), "find", 0);
    const text = "ab".repeat(1_000);
    const index = machine.feed(text, 0, text.length, 50_000);
    expect(index).toBeLessThan(200);
    expect(machine.work).toBeLessThan(55_000);
    expect(search(pattern("([ab]+)c"), [`x${text}c`], 100)).toEqual(search(pattern("([ab]+)c"), [`x${text}c`]));
  });
});

describe("T2, T3: what is found", () => {
  test("T3: equals re2js over the text so far, groups included, however the text is cut", () => {
    fc.assert(
      fc.property(source, flagSet, fc.array(piece, { minLength: 1, maxLength: 5 }), (source, flags, pieces) => {
        const found = search(pattern(source, flags), pieces);
        let text = "";
        for (const [i, piece] of pieces.entries()) {
          text += piece;
          const expected = reference(source, flags, text);
          if (expected === undefined) continue;
          const from = bytes(text.slice(0, expected.at)).length;
          const match = { from, to: from + bytes(expected.text).length, text: expected.text, groups: expected.groups };
          expect(found).toEqual([match, i]);
          return;
        }
        expect(found).toBe(undefined);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
    );
  });

  test("T3: groups are the captures without the whole, null where unused; from and to are log offsets", () => {
    const output = "\x1b[32mready\x1b[0m in 12 ms\r\n";
    const [match] = search(pattern("(ready) in (\\d+) (s|(m)s)(x)?"), [output]) ?? [];
    expect(match).toEqual({ from: 5, to: 23, text: "ready in 12 ms", groups: ["ready", "12", "ms", "m", null] });
    expect(output.slice(5, 23)).toBe("ready\x1b[0m in 12 ms".slice(0, 18));
  });

  test("T2: output is seen as plain has it: nothing that was overwritten before it came", () => {
    expect(search(pattern("50%"), ["10%\r50%\r90%"])).toBe(undefined);
    expect(search(pattern("50%"), ["10%\r", "50%\r", "90%"])?.[1]).toBe(1);
    expect(search({ kind: "text", text: "Done." }, ["work", "ing\r\x1b[K", "Don", "e."])?.[1]).toBe(3);
    expect(search(pattern("^Done\\.$", "m"), ["x\nwork", "ing\r\x1b[K", "Done."])?.[1]).toBe(2);
  });

  test("T2: a match that begins within the last 64 KiB is found, also behind an older beginning", () => {
    expect(SEARCHED_UNITS).toBe(65_536);
    const line = `${"x".repeat(99)}\n`;
    const filler = Array.from({ length: 40 }, () => line.repeat(100));
    const behind = [...filler, `BEGIN\n${line.repeat(600)}`, "END"];
    expect(search(pattern("BEGIN.*END", "s"), ["BEGIN", ...behind])?.[0].text).toHaveLength(6 + 60_000 + 3);
    expect(search(pattern("(BEGIN)\\n[x\\n]*END"), behind)?.[0].groups).toEqual(["BEGIN"]);
    expect(search({ kind: "text", text: "x\nEND" }, behind)?.[1]).toBe(41);
  });

  test("T2: in one piece of 1 MB nothing is missed", () => {
    const [match] =
      search(pattern("needle (\\d)"), [`${"hay\n".repeat(100_000)}needle 7\n${"hay\n".repeat(100_000)}`]) ?? [];
    expect(match).toEqual({ from: 400_000, to: 400_008, text: "needle 7", groups: ["7"] });
  });

  test("T2: what is searched again is what a line that goes on may still change, not the whole", () => {
    const finder = program("([a-z]+) done");
    let work = 0;
    const counting: PatternProgram = {
      ...finder,
      matchesRune: (pc, rune) => {
        work += 1;
        return finder.matchesRune(pc, rune);
      },
    };
    const pieces = Array.from({ length: 20_000 }, (_, i) => (i % 80 === 79 ? "\n" : "word "));
    search({ kind: "pattern", program: counting }, pieces);
    expect(work).toBeLessThan(10 * pieces.join("").length);
  });
});
