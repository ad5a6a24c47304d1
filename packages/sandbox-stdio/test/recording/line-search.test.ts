// The search through a recording finds what a search over its plain text finds, wherever its segments are cut.

import { compilePattern } from "@sbx/api/patterns";
import { plainTextOf, type SearchTarget } from "sandbox-stdio/programs";
import { type Hit, LineSearch, type Segment } from "sandbox-stdio/recording";
import { expect, test } from "vitest";

const bytes = (text: string) => new TextEncoder().encode(text);

function segments(output: Uint8Array, cuts: readonly number[]): Segment[] {
  const ends = [...cuts, output.length];
  return ends.map((to, i) => {
    const from = i === 0 ? 0 : (ends[i - 1] ?? 0);
    const times: Segment["times"] = to > from ? [[from, 1000 + from]] : [];
    const facts = { incarnation: "a", isTty: true, cols: 80, rows: 24, sizes: [], frames: [] };
    return { ...facts, from, to, times, bytes: output.subarray(from, to) };
  });
}

function search(target: SearchTarget, output: readonly Segment[], limit: number, from = 0) {
  const lines = new LineSearch(target, from);
  const hits: Hit[] = [];
  const first = Math.max(
    0,
    output.findLastIndex((segment) => segment.from <= from),
  );
  const hasRoom = output.slice(first).every((segment) => lines.read(segment, hits, limit)) && lines.end(hits, limit);
  return { hits, searchedTo: lines.searchedTo, hasRoom };
}

/** All hits, a few at a time. */
function searchOnAndOn(target: SearchTarget, output: readonly Segment[], limit: number): Hit[] {
  const all: Hit[] = [];
  for (let from = 0; ; ) {
    const { hits, searchedTo, hasRoom } = search(target, output, limit, from);
    all.push(...hits);
    if (hasRoom) return all;
    expect(searchedTo).toBeGreaterThan(from);
    from = searchedTo;
  }
}

const LINES = Array.from({ length: 120 }, (_, i) => {
  if (i % 7 === 0) return `\x1b[3${i % 8}merr\x1b[0mor ${i}`;
  if (i % 11 === 0) return `50 %\r100 % error ${i}`;
  return i % 5 === 0 ? `größer ✓ ${"x".repeat(i * 3)} error` : `line ${i}`;
});
const OUTPUT = bytes(`${LINES.join("\r\n")}\r\nlast error`);

const patternOf = (source: string): SearchTarget => {
  const compiled = compilePattern(source);
  if (!compiled.ok) throw new Error(compiled.message);
  return { kind: "pattern", program: compiled.program };
};

test.each<[string, SearchTarget, RegExp]>([
  ["a text", { kind: "text", text: "error" }, /error/],
  ["a text with other characters", { kind: "text", text: "ößer ✓" }, /ößer ✓/],
  ["an expression", patternOf("^err.r [0-9]+$"), /^err.r [0-9]+$/],
  ["an expression in the middle", patternOf("e \\d*5"), /e \d*5/],
])(
  "G5: %s is found once a line, wherever segments are cut and however few hits are wanted at once",
  (_, target, like) => {
    const plain = plainTextOf(OUTPUT).split("\n");
    const expected = plain.filter((line) => like.test(line)).map((line) => line.slice(0, 40));
    for (const cuts of [[], [1, 2, 3], [1000, 1001, 5000], Array.from({ length: 100 }, (_, i) => i * 137)]) {
      const output = segments(OUTPUT, cuts);
      for (const limit of [1000, 17, 1]) {
        const hits = limit === 1000 ? search(target, output, limit).hits : searchOnAndOn(target, output, limit);
        expect(hits.length, `${cuts.length} cuts, ${limit} at once`).toBe(expected.length);
        const offsets = hits.map(({ offset }) => offset);
        expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
        if (target.kind === "text") expect(hits.every(({ line }) => like.test(line))).toBe(true);
      }
    }
  },
);

test("G5: a hit says where its match begins and when it came, and at most 1 KiB of its line", () => {
  const output = bytes(`${"€".repeat(2000)}needle${"€".repeat(2000)}\nnext`);
  const [hit] = search({ kind: "text", text: "needle" }, segments(output, [6003]), 10).hits;
  expect(hit?.offset).toBe(6000);
  expect(hit?.atMs).toBe(1000);
  expect(bytes(hit?.line ?? "").length).toBeLessThanOrEqual(1024);
  expect(hit?.line).toContain("needle");
});

test("G5: a line longer than a terminal's is searched to its end", () => {
  const output = bytes(`${"x".repeat(40_000)}needle\nneedle\n`);
  expect(search({ kind: "text", text: "needle" }, segments(output, []), 10).hits.map(({ offset }) => offset)).toEqual([
    40_000, 40_007,
  ]);
});
