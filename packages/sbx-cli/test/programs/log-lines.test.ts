// A log as lines of JSON: their places, times and text, however the bytes come.

import { expect, test } from "vitest";
import { LogLines } from "../../src/programs/logs.ts";

const TIMES = [
  { offset: 0, at: "t0" },
  { offset: 4, at: "t4" },
];

/** The lines of bytes that come in pieces of a size. */
function cut(bytes: Buffer, size: number, first = 0) {
  const lines = new LogLines();
  const found = [];
  for (let at = 0; at < bytes.length; at += size) {
    found.push(...lines.add(bytes.subarray(at, at + size), first + at, TIMES));
  }
  return [...found, ...lines.rest()];
}

test.each([1, 2, 3, 100])(
  "lines have their place, the time of their first byte, no end; pieces of %i bytes",
  (size) => {
    expect(cut(Buffer.from("one\r\nü\n\nrest"), size)).toEqual([
      { offset: 0, next: 5, time: "t0", text: "one" },
      { offset: 5, next: 8, time: "t4", text: "ü" },
      { offset: 8, next: 9, time: "t4", text: "" },
      { offset: 9, next: 13, time: "t4", text: "rest" },
    ]);
  },
);

test("bytes that are no UTF-8 are base64, a time that is not known is left out, a line may be a megabyte", () => {
  expect(new LogLines().add(Buffer.from([0xff, 0x0a]), 7, [])).toEqual([{ offset: 7, next: 9, base64: "/w==" }]);
  const long = new LogLines().add(Buffer.alloc(1_048_577, "x"), 0, []);
  expect(long.map(({ offset, next }) => [offset, next])).toEqual([[0, 1_048_577]]);
});

test("what stands before a hole is a line of its own, and the next one begins behind it", () => {
  const lines = new LogLines();
  lines.add(Buffer.from("ab"), 0, TIMES);
  expect(lines.rest()).toEqual([{ offset: 0, next: 2, time: "t0", text: "ab" }]);
  expect(lines.add(Buffer.from("cd\n"), 10, TIMES)).toEqual([{ offset: 10, next: 13, time: "t4", text: "cd" }]);
});
