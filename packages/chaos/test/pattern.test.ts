// f(n): the same bytes however they are asked for, and found again wherever they are met.

import { expect, test } from "vitest";
import { Random } from "../../local/src/base/random.ts";
import { fill, LOCATABLE_BYTES, locate, patternBytes } from "../src/pattern.ts";

const KEY = 0x1234_5678;

test("the bytes of a range are the same whichever ranges they are asked for in", () => {
  const whole = patternBytes(0, 1_000, KEY);
  for (let start = 0; start < 40; start += 1) {
    for (const length of [0, 1, 7, 8, 9, 100]) {
      const part = new Uint8Array(length);
      fill(part, start, KEY);
      expect(part).toEqual(whole.subarray(start, start + length));
    }
  }
});

test("the first bytes are what they were when this was written", () => {
  expect(Buffer.from(patternBytes(0, 16, KEY)).toString("hex")).toBe("bcd17ce37d446c3e8557745905468cdb");
});

test("any 15 bytes in a row tell their offset, far out too", () => {
  const random = new Random(1, "locate");
  for (let i = 0; i < 2_000; i += 1) {
    const offset = i < 100 ? i : random.int(0, 30 * 1024 ** 3);
    const found = locate(patternBytes(offset, offset + LOCATABLE_BYTES, KEY), KEY);
    expect(found?.offset).toBe(offset);
  }
});

test("bytes of another stream are found nowhere", () => {
  const random = new Random(2, "streams");
  for (let i = 0; i < 2_000; i += 1) {
    const offset = random.int(0, 1_000_000_000);
    expect(locate(patternBytes(offset, offset + 64, KEY), KEY + 1)).toBeUndefined();
  }
});
