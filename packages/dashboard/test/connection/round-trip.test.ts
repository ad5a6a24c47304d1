// How long a key takes, from what is sent, printed and taken.

import { expect, test } from "vitest";
import { RoundTrip } from "../../src/connection/latency.ts";

/** A key at this time, and what the process prints so much later. @returns Whether that was a new time. */
function key(trip: RoundTrip, atMs: number, echoMs: number): boolean {
  trip.sent(atMs);
  const isNew = trip.printed(atMs + echoMs);
  trip.taken(0);
  return isNew;
}

test("a key alone is timed until the process has printed something, however late the record has it", () => {
  const trip = new RoundTrip();
  expect(trip.ms).toBeUndefined();
  trip.sent(1_000);
  expect([trip.printed(1_015), trip.ms]).toEqual([true, 15]);
  // It is acknowledged 415 ms later, and another key was typed and printed before that.
  trip.sent(1_200);
  expect([trip.printed(1_215), trip.ms]).toEqual([true, 15]);
  trip.taken(0);
  expect(trip.ms).toBe(15);
});

test("keys that follow before the first is answered are not timed, nor those after them until all are taken", () => {
  const trip = new RoundTrip();
  trip.sent(0);
  trip.sent(50);
  expect([trip.printed(300), trip.printed(350), trip.ms]).toEqual([false, false, undefined]);
  trip.sent(600);
  expect([trip.printed(610), trip.ms]).toEqual([false, undefined]);
  trip.taken(1);
  trip.sent(900);
  expect(trip.printed(910)).toBe(false);
  trip.taken(0);
  expect([key(trip, 1_200, 80), trip.ms]).toEqual([true, 80]);
});

test("what a busy process prints is no answer to a key, and a silent one times nothing", () => {
  const trip = new RoundTrip();
  trip.printed(1_000);
  expect(key(trip, 1_149, 1)).toBe(false);
  expect([key(trip, 1_300, 30), trip.ms]).toEqual([true, 30]);
  trip.sent(2_000);
  trip.taken(0);
  expect([trip.printed(9_000), trip.ms]).toEqual([false, 30]);
});

test("one time that stands out counts for a third of it", () => {
  const trip = new RoundTrip();
  key(trip, 0, 100);
  key(trip, 1_000, 200);
  expect(trip.ms).toBe(130);
});

test("a break times nothing", () => {
  const trip = new RoundTrip();
  trip.sent(0);
  trip.broken();
  expect([trip.printed(9_000), trip.ms]).toEqual([false, undefined]);
});
