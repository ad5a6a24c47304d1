import { expect, test } from "vitest";
import { GATHER_MS, Gathering, TYPED_MS } from "../../src/process/process-output.ts";

const FRAME = 64 * 1024;

/** A flood whose output waits, by a clock that stands still until it is told. */
function flood() {
  const clock = { nowMs: 1_000 };
  const due: (() => void)[] = [];
  const events: string[] = [];
  const gathering = new Gathering(
    () => {
      events.push("flush");
      gathering.flushed();
    },
    {
      now: () => clock.nowMs,
      wakeIn: (ms, wake) => {
        events.push(`wake in ${ms}`);
        due.push(wake);
        return () => due.splice(due.indexOf(wake), 1);
      },
    },
  );
  const read = (bytes: number, laterMs = 0): boolean => {
    clock.nowMs += laterMs;
    gathering.read(bytes, clock.nowMs);
    return gathering.keeps();
  };
  return { clock, due, events, gathering, read, wake: () => due.shift()?.() };
}

test("Output of a flood waits for more, and goes out when its time has come", () => {
  const { events, read, wake, due } = flood();
  expect([read(FRAME), read(4_000, 0.1), read(300, 0.1)]).toEqual([true, true, true]);
  expect(events).toEqual([`wake in ${GATHER_MS}`]);
  wake();
  expect(events).toEqual([`wake in ${GATHER_MS}`, "flush"]);
  expect(due).toHaveLength(0);
});

test("Output that came after a whole frame has gone out has a time of its own", () => {
  const { events, gathering, read, wake } = flood();
  read(FRAME);
  gathering.flushed();
  read(4_000, 0.9);
  wake();
  expect(events).toEqual([`wake in ${GATHER_MS}`, `wake in ${GATHER_MS}`]);
  wake();
  expect(events.at(-1)).toBe("flush");
});

test("Little output waits for nothing, nor does what comes after a lull in a flood", () => {
  const { read } = flood();
  expect(read(1_000)).toBe(false);
  expect(read(FRAME, 0.1)).toBe(true);
  expect(read(1_000, 5)).toBe(false);
});

test("In a flood nothing waits while somebody types, as it may be the answer", () => {
  const { clock, gathering, read } = flood();
  expect(read(FRAME)).toBe(true);
  gathering.typed();
  expect(read(4_000, 0.1)).toBe(false);
  for (let ms = 1; ms < TYPED_MS; ms += 1) read(4_000, 1);
  expect(clock.nowMs).toBeCloseTo(1_000 + TYPED_MS - 0.9);
  expect(read(4_000, 1)).toBe(true);
});

test("What is given up is not woken for", () => {
  const { due, gathering, read } = flood();
  read(FRAME);
  gathering.stop();
  expect(due).toHaveLength(0);
});
