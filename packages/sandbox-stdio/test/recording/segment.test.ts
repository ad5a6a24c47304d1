// Segments of a recording: what is stored, and that nothing else passes for one.

import { decodeSegment, encodeSegment, type Segment } from "sandbox-stdio/recording";
import { expect, test } from "vitest";

const text = (words: string) => new TextEncoder().encode(words);

const SEGMENT: Segment = {
  ...{ incarnation: "abc", from: 1000, to: 1012, isTty: true, cols: 80, rows: 24 },
  times: [
    [1000, 1_700_000_000_000],
    [1006, 1_700_000_000_250],
  ],
  sizes: [
    { offset: 1006, cols: 100, rows: 30 },
    { offset: 1012, cols: 90, rows: 30 },
  ],
  frames: [{ offset: 1003, cols: 80, rows: 24, ansi: text("\x1bc\x1b[1;1Hhel") }],
  bytes: text("hello world!"),
  exit: { code: 143, signal: "SIGTERM", atMs: 1_700_000_000_300 },
};

test("G2: a segment comes back as it was, with one that holds no output", () => {
  expect(decodeSegment(encodeSegment(SEGMENT))).toEqual(SEGMENT);
  const { exit: _, ...rest } = SEGMENT;
  const empty = { ...rest, to: 1000, times: [], sizes: [], frames: [], bytes: text("") };
  expect(decodeSegment(encodeSegment(empty))).toEqual(empty);
});

test("G2: no part of a segment passes for one, nor one with a byte more", () => {
  const encoded = encodeSegment(SEGMENT);
  for (let length = 0; length < encoded.length; length += 1) {
    expect(decodeSegment(encoded.slice(0, length)), `${length} bytes`).toBeUndefined();
  }
  expect(decodeSegment(new Uint8Array([...encoded, 0]))).toBeUndefined();
});

test.each([
  ["an end before its start", { to: 999 }],
  ["more bytes than it has", { to: 1013 }],
  ["an offset that is none", { from: -1 }],
  ["a size of nothing", { cols: 0 }],
  ["a change of size elsewhere", { sizes: [{ offset: 1013, cols: 80, rows: 24 }] }],
  ["a change to no size", { sizes: [{ offset: 1003, cols: 80, rows: 100_000 }] }],
  ["a key frame elsewhere", { frames: [{ offset: 999, cols: 80, rows: 24, ansi: text("") }] }],
  ["a time behind its end", { times: [[1000, 1] as const, [1012, 2] as const] }],
  ["times that begin late", { times: [[1001, 1] as const] }],
  ["no times", { times: [] }],
  [
    "a time beyond all dates",
    { times: [[1000, 8_640_000_000_000_000] as const, [1001, 8_640_000_000_000_001] as const] },
  ],
  ["an exit code that is none", { exit: { code: 256, atMs: 1 } }],
])("G2: a segment that claims %s is none", (_, lie) => {
  expect(decodeSegment(encodeSegment({ ...SEGMENT, ...lie }))).toBeUndefined();
});
