// What a run is made of: the bytes f(n), the same however they are asked for and found again wherever they are met, and the faults
// that are planned for connections.

import { expect, test } from "vitest";
import { Random } from "../../local/src/base/random.ts";
import { BREAK_KINDS, DEFAULT_PROFILE, planConnection } from "../src/faults.ts";
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
  for (let i = 0; i < 500; i += 1) {
    const offset = i < 100 ? i : random.int(0, 30 * 1024 ** 3);
    const found = locate(patternBytes(offset, offset + LOCATABLE_BYTES, KEY), KEY);
    expect(found?.offset).toBe(offset);
  }
});

test("bytes of another stream are found nowhere", () => {
  const random = new Random(2, "streams");
  for (let i = 0; i < 500; i += 1) {
    const offset = random.int(0, 1_000_000_000);
    expect(locate(patternBytes(offset, offset + 64, KEY), KEY + 1)).toBeUndefined();
  }
});

const planOf = (label: string) => planConnection(new Random(42, label), DEFAULT_PROFILE);

test("a seed and a label plan the same each time, another label something else", () => {
  expect(planOf("outer a 0")).toEqual(planOf("outer a 0"));
  expect(planOf("outer a 0")).not.toEqual(planOf("outer a 1"));
});

test("among many connections all kinds of breaks are planned, early and late, and some are played twice", () => {
  const plans = Array.from({ length: 2_000 }, (_, i) => planOf(`c ${i}`));
  for (const kind of BREAK_KINDS) expect(plans.some((plan) => plan.break?.kind === kind)).toBe(true);
  const places = plans.map((plan) => plan.break?.bytes ?? 0);
  expect(places.filter((bytes) => bytes < 200).length).toBeGreaterThan(200);
  expect(places.filter((bytes) => bytes > 100_000).length).toBeGreaterThan(200);
  expect(Math.max(...places)).toBeLessThanOrEqual(DEFAULT_PROFILE.bytes);
  expect(plans.filter((plan) => plan.hasTwin).length).toBeGreaterThan(100);
  expect(plans.filter((plan) => plan.down.pieceBytes > 0).length).toBeGreaterThan(100);
  expect(plans.filter((plan) => plan.up.stall !== undefined).length).toBeGreaterThan(100);
});
