// Refusals without end: the first of a kind is on record at once, those that follow are one record.
import { env, runInDurableObject } from "cloudflare:test";
import type { ClientRecord } from "sandbox-stdio/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AuditRecord, Deed } from "../../src/audit/record.ts";
import { Refusals, RUN_MS } from "../../src/audit/refusals.ts";
import { SessionAudit } from "../../src/audit/session-audit.ts";
import { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";

const VIEWER = { id: "v", role: "viewer" } as ClientRecord;
const DRIVER = { id: "d", role: "driver" } as ClientRecord;
const KEY = new TextEncoder().encode("x");
const ACTOR = { tenant: "t", user: "u", address: "192.0.2.1" };

afterEach(() => {
  vi.useRealTimers();
});

describe("a run of refusals", () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const refused = (ms: number, error: string, message = "no") =>
    ({ time: at(ms), ...ACTOR, type: "refused", error, message }) as const;

  test("is one record after the first, with count, first and last time; another reason or person is another run", () => {
    const refusals = new Refusals();
    const first = refused(0, "conflict");
    expect(refusals.note(first, 0)).toEqual(first);
    for (let ms = 1; ms <= 1_000; ms += 1) expect(refusals.note(refused(ms, "conflict", `${ms}`), ms)).toBeUndefined();
    const other = refused(5, "forbidden");
    const elsewhere = { ...refused(6, "conflict"), address: "192.0.2.2" };
    expect([refusals.note(other, 5), refusals.note(elsewhere, 6)]).toEqual([other, elsewhere]);
    expect(refusals.take(RUN_MS - 1, "over")).toEqual([]);
    expect(refusals.take(RUN_MS, "over")).toEqual([{ ...refused(1, "conflict", "1"), times: 1_000, until: at(1_000) }]);
    expect([refusals.isWaiting, refusals.take(RUN_MS, "all")]).toEqual([false, []]);
    const late = refused(2 * RUN_MS, "conflict");
    expect(refusals.note(late, 2 * RUN_MS)).toEqual(late);
  });

  test("is over where the clock is set back", () => {
    const refusals = new Refusals();
    refusals.note(refused(1_000, "conflict"), 1_000);
    expect(refusals.note(refused(0, "conflict"), 0)).toEqual(refused(0, "conflict"));
  });
});

describe("10,000 keys of a viewer", () => {
  test("are two records by their length, and what they counted is known to the object's next life", () =>
    withAudit(async (audit, records, trail) => {
      // A run lasts for ten seconds.
      vi.useFakeTimers({ toFake: ["Date"] });
      for (let i = 0; i < 10_000; i += 1) {
        audit.input(VIEWER, i, i, KEY, "refused");
        audit.note({ type: "refused", error: "not_stdin_holder", message: "not stdin holder" }, "v");
      }
      await vi.waitFor(() => expect(audit.storedUpTo("v")).toBe(10_000), 240_000);
      // Counted as stored while its record still waits.
      expect(records().map(said)).toEqual([
        { client: "v", type: "input", offset: 0, length: 1, refused: true },
        { client: "v", type: "refused", error: "not_stdin_holder", message: "not stdin holder" },
      ]);
      expect(new Map(new AuditTrail(trail.storage).storedInput()).get("v")).toBe(10_000);
      await audit.flush();
      const until = expect.any(String);
      expect(records().slice(2).map(said)).toEqual([
        { client: "v", type: "input", offset: 1, length: 9_999, refused: true, times: 9_999, until },
        { client: "v", type: "refused", error: "not_stdin_holder", message: "not stdin holder", times: 9_999, until },
      ]);
      expect(new Map(new AuditTrail(trail.storage).storedInput()).get("v")).toBe(10_000);
    }));

  test("are on record after ten seconds, or when the viewer has left, whichever is first", () =>
    withAudit(async (audit, records) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
      const type = (from: number) => {
        for (let i = from; i < from + 5; i += 1) audit.input(VIEWER, i, i, KEY, "refused");
      };
      const lengths = async (ms: number) => {
        await vi.advanceTimersByTimeAsync(ms);
        return records().flatMap((record) => (record.type === "input" ? [record.length] : []));
      };
      type(0);
      expect(await lengths(RUN_MS - 1)).toEqual([1]);
      expect(await lengths(501)).toEqual([1, 4]);
      type(5);
      expect(await lengths(600)).toEqual([1, 4]);
      audit.departed(VIEWER, "left");
      expect(await lengths(600)).toEqual([1, 4, 5]);
    }));
});

test("10,000 flips of a driver's, of each kind, are ten records and one that says how they ended", () =>
  withAudit(async (audit, records) => {
    const deeds = (i: number): Deed[] => [
      { type: "secret", on: i % 2 === 0 },
      { type: "holder", from: i % 2 === 0 ? "" : "d", to: i % 2 === 0 ? "d" : "" },
      { type: "resize", cols: i, rows: 24 },
      { type: "signal", signal: "SIGWINCH" },
    ];
    for (let i = 0; i < 10_000; i += 1) {
      for (const deed of deeds(i)) {
        if (deed.type === "secret") audit.setSecret("d", deed.on);
        else audit.note(deed, "d");
      }
    }
    await audit.flush();
    const until = expect.any(String);
    for (const [kind, last] of deeds(9_999).entries()) {
      const found = records().filter(({ type }) => type === last.type);
      expect(found.slice(0, 10).map(said)).toEqual(
        Array.from({ length: 10 }, (_, i) => ({ client: "d", ...deeds(i)[kind] })),
      );
      const from = last.type === "holder" ? { from: "" } : {};
      expect(found.slice(10).map(said)).toEqual([{ client: "d", ...last, ...from, times: 9_990, until }]);
    }
  }));

test("what was typed after many flips is on record after them, and as secret as it was meant", () =>
  withAudit(async (audit, records) => {
    for (let i = 0; i < 21; i += 1) audit.setSecret("d", i % 2 === 0);
    audit.input(DRIVER, 0, 0, KEY, "typed");
    audit.setSecret("d", false);
    audit.input(DRIVER, 1, 1, KEY, "typed");
    await audit.flush();
    expect(
      records()
        .slice(10)
        .map((record) => (record.type === "secret" ? [record.on, record.times] : [record.type, said(record)])),
    ).toEqual([
      [true, 11],
      ["input", { client: "d", type: "input", offset: 0, length: 1, secret: true }],
      [false, undefined],
      ["input", { client: "d", type: "input", offset: 1, length: 1, text: "x" }],
    ]);
  }));

test("what a driver typed before and after it was without the keyboard is on record in that order", () =>
  withAudit(async (audit, records) => {
    audit.input(DRIVER, 0, 0, KEY, "typed");
    for (let i = 1; i < 4; i += 1) audit.input(DRIVER, i, i, KEY, "refused");
    audit.input(DRIVER, 4, 4, KEY, "typed");
    await audit.flush();
    expect(
      records().map((record) => (record.type === "input" ? [record.offset, record.length, record.text] : [])),
    ).toEqual([
      [0, 1, "x"],
      [1, 1, undefined],
      [2, 2, undefined],
      [4, 1, "x"],
    ]);
    expect(audit.storedUpTo("d")).toBe(5);
  }));

function said({ seq: _seq, hash: _hash, time: _time, ...rest }: AuditRecord): object {
  return rest;
}

type Trail = AuditTrail & { readonly storage: DurableObjectStorage };

function withAudit(
  use: (audit: SessionAudit, records: () => readonly AuditRecord[], trail: Trail) => Promise<void>,
): Promise<void> {
  const object = (env as unknown as Env).SESSION.getByName(crypto.randomUUID());
  return runInDurableObject(object, async (_object, { storage }) => {
    const trail = Object.assign(new AuditTrail(storage), { storage });
    const audit = new SessionAudit({
      trail,
      settings: { mode: "content", retentionMs: 1, allowsSecret: true },
      isTty: () => true,
      storing: () => undefined,
      stored: () => undefined,
      failed: (error) => {
        throw error;
      },
    });
    await use(audit, () => trail.read(0, 1_000).records, trail);
  });
}
