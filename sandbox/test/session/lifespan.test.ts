// How long a session in the bridge is kept, told the time.
import { EXITED_KEEP_MS } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { Lifespan } from "../../src/session/lifespan.ts";

const KEEP_MS = 30_000;
/** The first attach may take this long, whatever `keep` says. */
const FIRST_ATTACH_MS = 10_000;

test("L7: a process to which nobody attaches ends 10 s after its start and its keep", () => {
  const life = new Lifespan(KEEP_MS, 0, 1_000);
  life.look(false, 1_000);
  expect(life.nextMs).toBe(1_000 + FIRST_ATTACH_MS + KEEP_MS);
  expect(life.due(life.nextMs - 1)).toBe(undefined);
  expect(life.due(life.nextMs)).toBe("end");
});

test("L7: its keep is counted from when the last client was seen to go, and not while one is there", () => {
  const life = new Lifespan(KEEP_MS, 0, 0);
  life.look(true, 0);
  expect(life.nextMs).toBe(Number.POSITIVE_INFINITY);
  life.look(false, 5_000);
  life.look(false, 9_000);
  expect(life.nextMs).toBe(5_000 + KEEP_MS);
});

test("P4: a program's call counts as a visit", () => {
  const life = new Lifespan(KEEP_MS, 0, 0);
  life.look(true, 0);
  life.called(1_000);
  expect(life.nextMs).toBe(Number.POSITIVE_INFINITY);
  life.look(false, 2_000);
  life.called(7_000);
  expect(life.nextMs).toBe(7_000 + KEEP_MS);
});

test("the end of a process is due once: while it takes its time to end, nothing wakes the bridge for it", () => {
  const life = new Lifespan(0, 0, 0);
  expect(life.due(FIRST_ATTACH_MS)).toBe("end");
  expect(life.nextMs).toBe(Number.POSITIVE_INFINITY);
  expect(life.due(FIRST_ATTACH_MS + 1)).toBe(undefined);
});

test("X5: an exit is kept for its time, or for longer if its program wishes, whoever is there", () => {
  const life = new Lifespan(KEEP_MS, 0, 0);
  life.look(true, 0);
  life.exited(50);
  expect(life.nextMs).toBe(50 + EXITED_KEEP_MS);
  expect(life.due(50 + EXITED_KEEP_MS)).toBe("forget");
  const longer = new Lifespan(KEEP_MS, EXITED_KEEP_MS * 2, 0);
  longer.exited(50);
  expect(longer.nextMs).toBe(50 + EXITED_KEEP_MS * 2);
});
