// D2a: when output came. A sparse index, and what it answers.
import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_TIME_MARKS } from "../../src/output/time-index.ts";
import { marksWithin, offsetSince, readTimeIndex, TimeIndex } from "../../src/programs/index.ts";

test("D2a: an offset is never behind the first byte that came since, and at most one step before it", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3_000), fc.nat(500)), { maxLength: 200 }), fc.nat(), (pieces, seed) => {
      const index = new TimeIndex();
      const came: { offset: number; atMs: number }[] = [];
      let [end, nowMs] = [0, 1_000_000];
      for (const [pauseMs, bytes] of pieces) {
        nowMs += pauseMs;
        if (bytes === 0) continue;
        index.note(end, nowMs);
        came.push({ offset: end, atMs: nowMs });
        end += bytes;
      }
      const sinceMs = 1_000_000 + (seed % (nowMs - 1_000_000 + 2));
      const first = came.find(({ atMs }) => atMs >= sinceMs)?.offset ?? end;
      const tooEarly = came.findLast(({ atMs }) => atMs < sinceMs - index.stepMs)?.offset ?? -1;
      const offset = offsetSince(index, sinceMs, end);
      expect(offset).toBeLessThanOrEqual(first);
      expect(offset).toBeGreaterThan(tooEarly);
    }),
    { seed: 5, numRuns: 300 },
  );
});

test("D2a: a process that prints for weeks has a bounded index, whose step grows", () => {
  const index = new TimeIndex();
  for (let second = 0; second < 100_000; second += 1) index.note(second, second * 1_000);
  expect(index.marks.length).toBeLessThanOrEqual(MAX_TIME_MARKS);
  expect(index.stepMs).toBe(128_000);
  expect(index.marks[0]).toEqual([0, 0]);
  expect(offsetSince(index, 50_000_000, 100_000)).toBeLessThanOrEqual(50_000);
  expect(offsetSince(index, 50_000_000, 100_000)).toBeGreaterThan(50_000 - 129);
  expect(index.lastMs).toBe(99_999_000);
  expect([offsetSince(index, -1, 100_000), offsetSince(index, 200_000_000, 100_000)]).toEqual([0, 100_000]);
});

test("D2a: its step grows once it is full, and not before", () => {
  const index = new TimeIndex();
  for (let second = 0; second < MAX_TIME_MARKS; second += 1) index.note(second, second * 1_000);
  expect([index.marks.length, index.stepMs]).toEqual([MAX_TIME_MARKS, 1_000]);
  index.note(MAX_TIME_MARKS, MAX_TIME_MARKS * 1_000);
  expect([index.marks.length, index.stepMs]).toEqual([MAX_TIME_MARKS / 2 + 1, 2_000]);
});

test("D2a: what a mark stands for came within a step of it", () => {
  const index = new TimeIndex();
  index.note(0, 5_000);
  index.note(10, 5_999);
  index.note(20, 6_000);
  expect([5_000, 5_999, 6_000, 6_999, 7_000].map((ms) => offsetSince(index, ms, 30))).toEqual([0, 0, 20, 20, 30]);
  const gap = { marks: [[0, 5_000] as const, [20, 9_000] as const], stepMs: 1_000 };
  expect([5_999, 6_000].map((ms) => offsetSince(gap, ms, 30))).toEqual([0, 20]);
});

test("D2a: what a bridge says of times may be anything", () => {
  expect(readTimeIndex({ marks: [[0, 1]], stepMs: 1_000 })).toEqual({ marks: [[0, 1]], stepMs: 1_000 });
  const full = Array.from({ length: MAX_TIME_MARKS }, () => [0, 0]);
  expect(readTimeIndex({ marks: full, stepMs: 1 })?.marks.length).toBe(MAX_TIME_MARKS);
  const wrong = [[[0]], [[0, "x"]], [["x", 0]], [[-1, 0]], [[0, 1, 2]], [[0, 0], [0]], [...full, [0, 0]]];
  const bad = [...wrong.map((marks) => ({ marks, stepMs: 1 })), { marks: [], stepMs: "1" }];
  for (const value of [undefined, {}, ...bad]) expect(readTimeIndex(value)).toBeUndefined();
});

test("D2a: the times of a range begin at its first byte, whose time an earlier mark may say", () => {
  const [first, second, third] = [[0, 10] as const, [50, 20] as const, [90, 30] as const];
  const within = (from: number, to: number, ...marks: readonly (readonly [number, number])[]) =>
    marksWithin(marks, from, to).map(String);
  expect(within(60, 91, first, second, third)).toEqual(["60,20", "90,30"]);
  expect(within(50, 90, first, second, third)).toEqual(["50,20"]);
  // The first mark stands late where the bridge was started anew: no byte is older than nothing known.
  expect(within(0, 60, second)).toEqual(["0,20", "50,20"]);
  expect([within(7, 7, first, second), within(0, 5)]).toEqual([[], []]);
});
