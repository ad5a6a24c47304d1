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

test("G2: what is of another version, or nothing, is no segment", () => {
  const encoded = encodeSegment(SEGMENT);
  encoded[4] = 1;
  expect(decodeSegment(encoded)).toBeUndefined();
  expect(decodeSegment(text(""))).toBeUndefined();
});
