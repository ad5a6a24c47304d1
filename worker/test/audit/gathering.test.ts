// How much input one transaction of the audit holds, and when it is made.
import { env, runInDurableObject } from "cloudflare:test";
import type { ClientRecord } from "sandbox-stdio/core";
import { afterEach, expect, test, vi } from "vitest";
import { SessionAudit } from "../../src/audit/session-audit.ts";
import { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";

const FRAME = new Uint8Array(65_536).fill(97);
const CLIENT = { id: "a", inputWindow: 4 * FRAME.length } as ClientRecord;
/** Somebody whose client keeps input until it is acknowledged. */
const PERSON = { ...CLIENT, acknowledges: true, isProgram: false } as ClientRecord;
const KEY = FRAME.subarray(0, 1);

afterEach(() => {
  vi.useRealTimers();
});

test("much input is stored in halves of what a client may have unacknowledged, without waiting for the clock", () =>
  withAudit(async (audit, batches) => {
    for (let at = 0; at < 4 * FRAME.length; at += FRAME.length) audit.input(CLIENT, at, at, FRAME, "typed");
    await audit.flush();
    expect(batches()).toEqual([Array(2).fill(FRAME.length), Array(2).fill(FRAME.length)]);
    expect(audit.storedUpTo("a")).toBe(4 * FRAME.length);
  }));

test("of one client's whole window with another's larger one, half of the smaller is enough to store all that waits", () =>
  withAudit(async (audit, batches) => {
    const large = { id: "b", inputWindow: 16 * FRAME.length } as ClientRecord;
    for (let at = 0; at < 3 * FRAME.length; at += FRAME.length) audit.input(large, at, at, FRAME, "typed");
    expect(batches()).toEqual([]);
    audit.input(CLIENT, 0, 0, FRAME, "typed");
    expect(batches()).toEqual([Array(4).fill(FRAME.length)]);
    await audit.flush();
    for (let at = 3 * FRAME.length; at < 10 * FRAME.length; at += FRAME.length)
      audit.input(large, at, at, FRAME, "typed");
    expect(batches()).toHaveLength(1);
    audit.input(large, 10 * FRAME.length, 10 * FRAME.length, FRAME, "typed");
    expect(batches()[1]).toEqual(Array(8).fill(FRAME.length));
    await audit.flush();
  }));

test("keys are stored 10 ms after the last one, or 500 ms after the first", () =>
  withAudit(async (audit, batches) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    for (let at = 0; at < 100; at += 1) {
      audit.input(CLIENT, at, at, KEY, "typed");
      vi.advanceTimersByTime(5);
      // After the hundredth the half second is over.
      expect(batches()).toEqual(at < 99 ? [] : [[100]]);
    }
    await audit.flush();
    audit.input(CLIENT, 100, 100, KEY, "typed");
    vi.advanceTimersByTime(9);
    expect(batches()).toEqual([[100]]);
    vi.advanceTimersByTime(1);
    expect(batches()).toEqual([[100], [1]]);
    await audit.flush();
    expect(audit.storedUpTo("a")).toBe(101);
  }));

test("a person's keys are stored 400 ms after the first, but not while one of them is echoed", () =>
  withAudit(async (audit, batches) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const type = (at: number) => audit.input(PERSON, at, at, KEY, "typed");
    for (let at = 0; at < 4; at += 1) {
      type(at);
      vi.advanceTimersByTime(99);
    }
    type(4);
    vi.advanceTimersByTime(9);
    expect(batches()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(batches()).toEqual([[5]]);
    await audit.flush();
    expect(audit.storedUpTo("a")).toBe(5);
    type(5);
    vi.advanceTimersByTime(399);
    expect(batches()).toEqual([[5]]);
    vi.advanceTimersByTime(1);
    expect(batches()).toEqual([[5], [1]]);
    await audit.flush();
  }));

test("keys whose time has come are stored right behind the next output, and not behind output before that", () =>
  withAudit(async (audit, batches) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    for (let at = 0; at < 80; at += 1) {
      audit.input(PERSON, at, at, KEY, "typed");
      vi.advanceTimersByTime(5);
      audit.answered();
      vi.advanceTimersByTime(0);
      expect(batches()).toEqual(at < 79 ? [] : [[80]]);
    }
    await audit.flush();
  }));

test.each<[string, (audit: SessionAudit) => unknown, number, (number | undefined)[]]>([
  ["the exit", (audit) => audit.note({ type: "exit", code: 0 }), 0, [1, undefined]],
  [
    "a program's input",
    (audit) => audit.input({ ...PERSON, id: "p", isProgram: true } as ClientRecord, 0, 0, KEY, "typed"),
    0,
    [1, 1],
  ],
  [
    "what somebody else typed, who keeps nothing",
    (audit) => audit.input({ ...CLIENT, id: "b" } as ClientRecord, 0, 0, KEY, "typed"),
    10,
    [1, 1],
  ],
  [
    "secret input",
    (audit) => audit.setSecret("a", true) && audit.input(PERSON, 1, 1, KEY, "typed"),
    10,
    [1, undefined, 1],
  ],
])("a person's keys wait no longer than %s, after them", (_what, follows, withinMs, stored) =>
  withAudit(async (audit, batches) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    audit.input(PERSON, 0, 0, KEY, "typed");
    vi.advanceTimersByTime(50);
    expect(batches()).toEqual([]);
    follows(audit);
    vi.advanceTimersByTime(withinMs);
    expect(batches()).toEqual([stored]);
    await audit.flush();
  }),
);

test("what a program types while a batch is being stored is stored at once after it", () =>
  withAudit(async (audit, batches) => {
    const program = { ...PERSON, id: "p", isProgram: true } as ClientRecord;
    audit.input(program, 0, 0, KEY, "typed");
    audit.input(program, 1, 1, KEY, "typed");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    await vi.waitUntil(() => batches().length === 2, { interval: 1, timeout: 240_000 });
    vi.useRealTimers();
    await audit.flush();
    expect([batches(), audit.storedUpTo("p")]).toEqual([[[1], [1]], 2]);
  }));

test("what is no input is stored within 10 ms, however fast somebody types", () =>
  withAudit(async (audit, batches) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    audit.input(CLIENT, 0, 0, KEY, "typed");
    vi.advanceTimersByTime(5);
    audit.note({ type: "kill" }, "a");
    audit.input(CLIENT, 1, 1, KEY, "typed");
    vi.advanceTimersByTime(5);
    audit.input(CLIENT, 2, 2, KEY, "typed");
    vi.advanceTimersByTime(4);
    expect(batches()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(batches()).toEqual([[1, undefined, 2]]);
    await audit.flush();
  }));

test("a clock that is set back keeps nothing waiting", () =>
  withAudit(async (audit, batches) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    audit.input(CLIENT, 0, 0, KEY, "typed");
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(10);
    expect(batches()).toEqual([[1]]);
    await audit.flush();
  }));

test("a batch that can't even be made is told, as one that can't be stored is: what it holds must not be acknowledged", () =>
  withAudit(async (audit, batches, trail, failures) => {
    vi.spyOn(trail, "head", "get").mockImplementation(() => {
      throw new Error("the disk is gone");
    });
    audit.input(CLIENT, 0, 0, FRAME, "typed");
    audit.input(CLIENT, FRAME.length, FRAME.length, FRAME, "typed");
    expect(failures).toEqual([new Error("the disk is gone")]);
    expect([batches(), audit.storedUpTo("a")]).toEqual([[], 0]);
  }));

type Stored = () => (number | undefined)[][];

/** @param use What is stored, is given as the lengths of the input in each batch. */
function withAudit(
  use: (audit: SessionAudit, batches: Stored, trail: AuditTrail, failures: readonly unknown[]) => Promise<void>,
): Promise<void> {
  const object = (env as unknown as Env).SESSION.getByName(crypto.randomUUID());
  return runInDurableObject(object, async (_object, { storage }) => {
    const trail = new AuditTrail(storage);
    const failures: unknown[] = [];
    const audit = new SessionAudit({
      trail,
      settings: { mode: "content", retentionMs: 1, allowsSecret: true },
      isTty: () => true,
      storing: () => undefined,
      stored: () => undefined,
      failed: (error) => void failures.push(error),
    });
    const batches = () => {
      const stored = [...storage.kv.list<readonly { length?: number }[]>({ prefix: "audit/batch/" })];
      return stored.map(([, records]) => records.map(({ length }) => length));
    };
    await use(audit, batches, trail, failures);
  });
}
