// What a tenant's object stores of recordings and used tickets, and what it remembers of who came last.
import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Env } from "../../src/env.ts";
import { Arrivals } from "../../src/limits/arrivals.ts";
import { type RecordingReport, TenantRecordings } from "../../src/limits/tenant-recordings.ts";
import { UsedTickets } from "../../src/limits/used-tickets.ts";

const real = env as unknown as Env;
const withStorage = (run: (storage: DurableObjectStorage) => Promise<void> | void): Promise<void> =>
  runInDurableObject(real.TENANT.getByName(crypto.randomUUID()), (_made, state) => run(state.storage));
const report = (incarnation: string, startedAtMs: number, bytes: number, isHeld = false): RecordingReport => ({
  ...{ sessionKey: "s", incarnation, by: "alice", startedAtMs, bytes, isHeld, isRemoved: false },
});

test("recordings: the oldest give way, as far as needed, and those that are held do not", () =>
  withStorage((storage) => {
    const recordings = new TenantRecordings(storage);
    const [newest, held, oldest, middle] = [
      report("a", 4, 100),
      report("b", 1, 50, true),
      report("c", 2, 30),
      report("d", 3, 40),
    ];
    for (const each of [newest, held, oldest, middle]) recordings.note(each);
    expect(recordings.bytes).toBe(220);
    expect(recordings.excess(220)).toEqual([]);
    expect(recordings.excess(190)).toEqual([{ report: oldest, bytes: 30 }]);
    expect(recordings.excess(170)).toEqual([
      { report: oldest, bytes: 30 },
      { report: middle, bytes: 20 },
    ]);
    expect(recordings.excess(0).reduce((sum, { bytes }) => sum + bytes, 0)).toBe(170);
    recordings.note({ ...oldest, isRemoved: true });
    expect([recordings.bytes, recordings.of("alice").length, recordings.of("bob")]).toEqual([190, 3, []]);
  }));

test("tickets: one that was used is no good again in an object made anew, until it has expired", () =>
  withStorage(async (storage) => {
    const [first, again] = [new UsedTickets(storage), () => new UsedTickets(storage)];
    expect([await first.use("one", 2_000, 1_000), await first.use("one", 2_000, 1_000)]).toEqual([true, false]);
    expect([await again().use("one", 2_000, 1_999), await again().use("two", 9_000, 1_999)]).toEqual([false, true]);
    expect(await again().use("three", 9_000, 2_000)).toBe(true);
    expect([...(await storage.list({ prefix: "used:" })).keys()]).toEqual(["used:three", "used:two"]);
    expect(await first.use("one", 9_000, 2_000)).toBe(true);
  }));

test("arrivals: for ten seconds after one came, an end may be of the process before", () => {
  const arrivals = new Arrivals();
  const mayHave = (startedBy: string | undefined, nowMs: number) => arrivals.mayHaveBegunAgain("s", startedBy, nowMs);
  expect(mayHave(undefined, 1)).toBe(false);
  arrivals.came("s", "first", 100_000);
  expect([mayHave(undefined, 109_999), mayHave(undefined, 110_000), mayHave("first", 100_001)]).toEqual([
    true,
    false,
    false,
  ]);
  arrivals.came("s", "second", 105_000);
  expect([mayHave("second", 109_999), mayHave("second", 110_000), mayHave("first", 114_999)]).toEqual([
    true,
    false,
    true,
  ]);
  arrivals.forget("s");
  expect(mayHave("first", 105_001)).toBe(false);
});
