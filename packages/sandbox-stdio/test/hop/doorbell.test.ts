// H20a: when a bridge calls a session object that has gone.
import { expect, test } from "vitest";
import { Doorbell } from "../../src/index.ts";

const NEVER = Number.POSITIVE_INFINITY;
const SILENT = { endOffset: 7, hasEnded: false };
const parked = (seconds: number) => ({ offset: 7, seconds, after: 5, bell: "x" });

test("H20a, X8: a stop is told at once where clients have places, and again until the object is here", () => {
  const bell = new Doorbell();
  bell.park(parked(60), 1_000);
  // It has been called for output, and has not come.
  bell.called({ endOffset: 8, hasEnded: false }, 6_000);
  expect(bell.nextMs(SILENT)).toBe(NEVER);
  bell.stopping();
  expect(bell.nextMs(SILENT)).toBe(1_000);
  bell.called(SILENT, 7_000);
  expect(bell.nextMs(SILENT)).toBe(12_000);
  bell.answered();
  expect(bell.nextMs(SILENT)).toBe(NEVER);
  // It has heard of it in the greeting.
  bell.park(parked(60), 20_000);
  expect(bell.nextMs(SILENT)).toBe(NEVER);
});

test("H20a, X8: a stop is nothing to an object without clients, nor to one that is here", () => {
  const bell = new Doorbell();
  bell.stopping();
  bell.park(parked(0), 1_000);
  expect(bell.nextMs(SILENT)).toBe(NEVER);
  bell.stopping();
  expect(bell.nextMs(SILENT)).toBe(NEVER);
});
