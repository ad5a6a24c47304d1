// When a container sleeps, and how often one is started that does not come up.

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { endOf } from "../../src/sandbox/container-end.ts";
import { sleepAfterMs, staysMs } from "../../src/sandbox/sleep.ts";
import { cannotStart, START_WAITS_MS, StartAttempts, type StartFailure } from "../../src/sandbox/start-attempts.ts";
import { giveClock } from "../support/given-clock.ts";

const real = env as unknown as Env;
const clock = giveClock();
const ENDED = { session: "s", incarnation: "i", state: "exited", offset: 0 };
const SESSION = { session: "s", incarnation: "i", state: "running", offset: 0 };

test.each([
  [undefined, 600_000],
  ["", 600_000],
  ["3s", 3_000],
  ["90", 90_000],
  ["2h", 7_200_000],
  ["soon", 600_000],
])("SLEEP_AFTER %j is %i ms", (setting, ms) => {
  expect(sleepAfterMs(setting)).toBe(ms);
});

test.each([
  ["no answer says nothing", undefined, 1_000],
  ["an answer too long says nothing", { status: 200, text: undefined }, 1_000],
  ["a bridge that stops is not told to a second time", { status: 503, text: "stopping" }, 1_000],
  ["a stranger keeps nothing", { status: 404, text: "no" }, 0],
  ["a session keeps it", { status: 200, text: JSON.stringify({ sessions: [SESSION], idleMs: 0 }) }, 1_000],
  [
    "an exit that is still to be told keeps it",
    { status: 200, text: JSON.stringify({ sessions: [ENDED], idleMs: 0 }) },
    1_000,
  ],
  [
    "an exit that was told: the rest of the time",
    { status: 200, text: JSON.stringify({ sessions: [ENDED], idleMs: 400 }) },
    600,
  ],
  [
    "an exit, by an older bridge that does not say",
    { status: 200, text: JSON.stringify({ sessions: [ENDED] }) },
    1_000,
  ],
  ["none for a while: the rest of the time", { status: 200, text: '{"sessions":[],"idleMs":400}' }, 600],
  ["none for long enough", { status: 200, text: '{"sessions":[],"idleMs":1000}' }, 0],
  ["none, by an older bridge that does not say for how long", { status: 200, text: '{"sessions":[]}' }, 0],
])("a container stays: %s", (_, answer, ms) => {
  expect(staysMs(answer, 1_000)).toBe(ms);
});

test.each([
  [undefined, { why: "its program ended", exitCode: 0 }],
  [new Error("Container exited with unexpected exit code: 3"), { why: "its program ended", exitCode: 3 }],
  [new Error("runtime signalled the container to exit: 137"), { why: "its program ended", exitCode: 137 }],
  [
    new Error("Container exited before we could determine the container health, exit code: 1"),
    { why: "its program ended", exitCode: 1 },
  ],
  [new Error("image not found"), { why: "image not found" }],
  [
    new Error("there is no container instance that can be provided to this durable object"),
    { why: "there is no container instance that can be provided to this durable object", isCapacity: true },
  ],
])("how a container ended is read from %s", (reason, end) => {
  expect(endOf(reason)).toEqual(end);
});

/** Runs `body` with the storage of an object of its own. */
async function withStorage(name: string, body: (storage: SyncKvStorage) => Promise<void>): Promise<void> {
  await runInDurableObject(real.SESSION.getByName(name), (_, { storage }) => body(storage.kv));
}

test("a container that does not come up is started three times, and then left alone for two minutes", async () => {
  await withStorage("start-attempts", async (storage) => {
    const failure: StartFailure = { why: "its program ended", exitCode: 3 };
    const start = vi.fn(async (): Promise<StartFailure | undefined> => failure);
    const first = new StartAttempts(storage).run(start);
    const waits = () => clock.everSet.filter((ms) => START_WAITS_MS.includes(ms));
    for (const [i, waitMs] of START_WAITS_MS.entries()) {
      await expect.poll(waits).toEqual(START_WAITS_MS.slice(0, i + 1));
      clock.putForward(waitMs);
    }
    expect(await first).toEqual(failure);
    expect(start).toHaveBeenCalledTimes(START_WAITS_MS.length + 1);
    // Another life of the object knows it too.
    expect(await new StartAttempts(storage).run(start)).toMatchObject(failure);
    expect(start).toHaveBeenCalledTimes(3);
    clock.putForward(120_001);
    start.mockImplementation(async () => undefined);
    expect(await new StartAttempts(storage).run(start)).toBeUndefined();
    expect(start).toHaveBeenCalledTimes(4);
    expect(new StartAttempts(storage).failure(Date.now())).toBeUndefined();
  });
});

test("callers that come while a container starts wait for the same start", async () => {
  await withStorage("same-start", async (storage) => {
    const start = vi.fn(async () => undefined);
    const attempts = new StartAttempts(storage);
    const first = attempts.run(start);
    expect(attempts.isUnderWay).toBe(true);
    await Promise.all([first, attempts.run(start)]);
    expect([start.mock.calls.length, attempts.isUnderWay]).toEqual([1, false]);
    await attempts.run(start);
    expect(start).toHaveBeenCalledTimes(2);
  });
});

test("a platform without room is not counted as a start that failed", async () => {
  await withStorage("no-room", async (storage) => {
    const start = vi.fn(() => Promise.reject(new Error("no container instance")));
    await expect(new StartAttempts(storage).run(start)).rejects.toThrow("no container instance");
    expect(new StartAttempts(storage).failure(Date.now())).toBeUndefined();
  });
});

test.each([
  [{ why: "its program ended", exitCode: 3 }, "ended 3 times while it started, with exit code 3: its program ended"],
  // No program ran: none has ended.
  [{ why: "Container failed to start" }, "could not be started, 3 times: Container failed to start"],
])("a container that can't start is told of for good, with what is known: %o", async (failure, words) => {
  const response = cannotStart(failure);
  expect(response.status).toBe(422);
  expect(await response.json()).toEqual({ error: "container_failed", message: `the container ${words}` });
});
