// What is planned for connections.

import { expect, test } from "vitest";
import { Random } from "../../local/src/base/random.ts";
import { BREAK_KINDS, DEFAULT_PROFILE, planConnection } from "../src/faults.ts";

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
