// How long a key takes, from what is sent and taken.

import { expect, test } from "vitest";
import { RoundTrip } from "../src/round-trip.ts";

test("a key alone is timed until it is taken", () => {
  const trip = new RoundTrip();
  expect(trip.ms).toBeUndefined();
  trip.sent(1_000);
  expect([trip.taken(0, 1_080), trip.ms]).toEqual([true, 80]);
});

test("keys that follow before the first is taken are not timed", () => {
  const trip = new RoundTrip();
  trip.sent(0);
  trip.sent(50);
  expect([trip.taken(1, 80), trip.taken(0, 130), trip.ms]).toEqual([false, false, undefined]);
  trip.sent(200);
  expect([trip.taken(0, 280), trip.ms]).toEqual([true, 80]);
});

test("one time that stands out counts for a third of it", () => {
  const trip = new RoundTrip();
  for (const ms of [100, 200]) {
    trip.sent(0);
    trip.taken(0, ms);
  }
  expect(trip.ms).toBe(130);
});

test("a break times nothing", () => {
  const trip = new RoundTrip();
  trip.sent(0);
  trip.broken();
  expect([trip.taken(0, 9_000), trip.ms]).toEqual([false, undefined]);
});
