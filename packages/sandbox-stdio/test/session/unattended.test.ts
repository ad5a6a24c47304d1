// W14: a process that nobody reads is slowed.
import { expect, test } from "vitest";
import { UnattendedBudget } from "../../src/session/unattended-budget.ts";
import { join, rig } from "../support/fixtures.ts";

const RATE = 1_000;

test("W14: after what may come at once, a flood gets its rate, in steps, however often it is looked at", () => {
  const budget = new UnattendedBudget(RATE, 0, 0);
  let written = 0;
  for (let ms = 0; ms <= 60_000; ms += 10) if (!budget.isSpent(written, ms)) written += 500;
  expect(written).toBeGreaterThan(RATE * (16 + 58));
  expect(written).toBeLessThan(RATE * (16 + 62));
});

test("W14: it is asked again when there is room, and not before", () => {
  const budget = new UnattendedBudget(RATE, 0, 0);
  expect([budget.isSpent(16_000, 0), budget.nextMs]).toEqual([false, undefined]);
  expect([budget.isSpent(18_000, 0), budget.nextMs]).toEqual([true, 2_000]);
  expect(budget.isSpent(18_000, 1_999)).toBe(true);
  expect([budget.isSpent(18_000, 2_000), budget.nextMs]).toEqual([false, undefined]);
});

test("W14: what is written while somebody reads costs nothing, and a quiet hour saves up no more than a burst", () => {
  const budget = new UnattendedBudget(RATE, 0, 0);
  budget.attended(50_000_000);
  expect(budget.isSpent(50_000_000 + 16_000, 3_600_000)).toBe(false);
  expect(budget.isSpent(50_000_000 + 16_001, 3_600_000)).toBe(true);
  budget.attended(50_000_000 + 16_001);
  expect(budget.nextMs).toBeUndefined();
});

test("W14: without a limit nothing is ever held", () => {
  const budget = new UnattendedBudget(Number.POSITIVE_INFINITY, 0, 0);
  expect([budget.isSpent(2 ** 50, 1), budget.nextMs]).toEqual([false, undefined]);
});

test("W14: a live terminal that nobody reads is held when its budget is spent, and released for who comes", () => {
  const { session, log, clock } = rig(
    { tty: true, delivery: "live" },
    { isAwaited: false, unattendedBytesPerSecond: RATE },
  );
  const write = (count: number) => {
    log.reserve();
    for (let left = count; left > 0; ) {
      const length = Math.min(left, log.reserve().length);
      log.commit(length, 1);
      left -= length;
    }
    session.appended();
  };
  write(16_000);
  expect([session.shouldHold, session.nextTickMs]).toEqual([false, undefined]);
  write(500);
  expect([session.shouldHold, session.nextTickMs]).toEqual([true, clock.ms + 500]);
  clock.ms += 500;
  expect(session.shouldHold).toBe(false);
  write(1_000);
  expect(session.shouldHold).toBe(true);
  join(session, "a", { delivery: "live", offset: log.endOffset });
  expect([session.shouldHold, session.nextTickMs]).toEqual([false, undefined]);
});
