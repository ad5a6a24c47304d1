import { expect, test } from "vitest";
import { Deadline, earliest } from "../../src/server/deadline.ts";

/** A shell whose clock and wake-ups are in the test's hands. */
function shell() {
  const [next, dueAt, asked]: [number, number[], number[]] = [Number.POSITIVE_INFINITY, [], []];
  const state = { now: 0, next, dueAt, asked, calledOff: 0, served: 0 };
  let wake: (() => void) | undefined;
  let onDue: () => void = () => undefined;
  const deadline = new Deadline({
    now: () => state.now,
    parts: () => [
      {
        nextTickMs: () => state.next,
        tick: (nowMs) => {
          state.dueAt.push(nowMs);
          onDue();
        },
      },
    ],
    served: () => {
      state.served += 1;
    },
    wakeIn: (ms, call) => {
      state.asked.push(ms);
      wake = call;
      return () => {
        state.calledOff += 1;
        wake = undefined;
      };
    },
  });
  return {
    state,
    deadline,
    whenDue: (call: () => void) => {
      onDue = call;
    },
    wakeAt: (now: number) => {
      state.now = now;
      wake?.();
    },
    get isAwaited() {
      return wake !== undefined;
    },
  };
}

test("only an earlier deadline moves the wake-up, and a part of a millisecond counts as a whole one; none asks for none", () => {
  const { state, deadline } = shell();
  deadline.look();
  expect(state.asked).toEqual([]);
  state.next = 100.2;
  deadline.look();
  for (const next of [100.2, 500]) {
    state.next = next;
    deadline.look();
  }
  expect(state).toMatchObject({ asked: [101], calledOff: 0 });
  state.next = 50;
  deadline.look();
  expect(state).toMatchObject({ asked: [101, 50], calledOff: 1 });
});

test("a deadline that has passed wakes the shell at once", () => {
  const { state, deadline } = shell();
  state.now = 1_000;
  state.next = 10;
  deadline.look();
  expect(state.asked).toEqual([0]);
});

test("a wake-up does what is due and asks for the next one, even if what was due throws", () => {
  const { state, deadline, whenDue, wakeAt } = shell();
  state.next = 100;
  deadline.look();
  whenDue(() => {
    state.next = 150;
    throw new Error("a fault of ours");
  });
  expect(() => wakeAt(100)).toThrow("a fault of ours");
  expect(state).toMatchObject({ dueAt: [100], asked: [100, 50], served: 1, calledOff: 0 });
});

test("an expected time is looked at only if it is before the wake-up", () => {
  const { state, deadline } = shell();
  state.next = 100;
  deadline.expect(undefined);
  expect(state.asked).toEqual([]);
  deadline.expect(100);
  state.next = 80;
  deadline.expect(100);
  expect(state.asked).toEqual([100]);
  deadline.expect(80);
  expect(state.asked).toEqual([100, 80]);
});

test("a deadline that was stopped, even by what was due, wakes nobody", () => {
  const one = shell();
  one.state.next = 100;
  one.deadline.look();
  one.deadline.stop();
  one.deadline.look();
  expect(one.isAwaited).toBe(false);
  const other = shell();
  other.state.next = 100;
  other.deadline.look();
  other.whenDue(() => other.deadline.stop());
  other.wakeAt(100);
  expect(other.state.asked).toEqual([100]);
});

test("the earliest of several times counts, and none is infinity", () => {
  expect(earliest([5, undefined, 3, Number.POSITIVE_INFINITY])).toBe(3);
  expect(earliest([undefined])).toBe(Number.POSITIVE_INFINITY);
});
