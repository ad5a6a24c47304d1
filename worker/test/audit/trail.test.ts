// The audit as it is stored: pages, retention, and what survives a new life of the object.

import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { CHAIN_START, chained, verifyChain } from "../../src/audit/chain.ts";
import { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";

/** Runs with the storage of a fresh object. */
function withStorage<T>(run: (storage: DurableObjectStorage) => Promise<T>): Promise<T> {
  const stub = (env as unknown as Env).SESSION.getByName(crypto.randomUUID());
  return runInDurableObject(stub, (_object, state) => run(state.storage));
}

const kill = (day: number) => ({ time: `2026-01-0${day}T00:00:00.000Z`, type: "kill" }) as const;
const encoder = new TextEncoder();
const base64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const NOBODY = new Map<string, number>();

describe("a trail", () => {
  test("goes on where it stood, and knows how far each client's input is stored", () =>
    withStorage(async (storage) => {
      const first = new AuditTrail(storage);
      await first.append([kill(1), kill(1)], new Map([["a", 7]]));
      const second = new AuditTrail(storage);
      expect([second.head, second.storedInput()]).toEqual([first.head, [["a", 7]]]);
      await second.append([kill(2)], NOBODY);
      const { records, head } = second.read(0, 10);
      expect([records.map(({ seq }) => seq), verifyChain(records)]).toEqual([[1, 2, 3], { ok: true, head }]);
    }));

  test("knows how far a client's input is stored from the newest batch, and of another batch's by a key", () =>
    withStorage(async (storage) => {
      const typed = (client: string, offset: number) =>
        ({ time: kill(1).time, client, type: "input", offset, length: 5, text: "hello" }) as const;
      /** What the next life of the object knows. */
      const known = () => Object.fromEntries(new AuditTrail(storage).storedInput());
      const keys = () => [...storage.kv.list({ prefix: "audit/input/" })].length;
      const first = new AuditTrail(storage);
      await first.append([typed("a", 0)], new Map([["a", 5]]));
      await first.append([typed("a", 5), kill(1)], new Map([["a", 10]]));
      expect([known(), keys()]).toEqual([{ a: 10 }, 0]);
      await first.append([typed("b", 0)], new Map([["b", 5]]));
      expect([known(), keys()]).toEqual([{ a: 10, b: 5 }, 1]);

      const second = new AuditTrail(storage);
      await second.append([kill(1)], NOBODY);
      expect([known(), keys()]).toEqual([{ a: 10, b: 5 }, 2]);
      await second.append([typed("a", 10)], new Map([["a", 15]]));
      expect(known()).toEqual({ a: 15, b: 5 });
      second.forgetInput(["a"]);
      await second.append([kill(1)], NOBODY);
      expect(known()).toEqual({ b: 5 });
    }));

  test("knows it also where the batches that said it were deleted for their age", () =>
    withStorage(async (storage) => {
      const trail = new AuditTrail(storage);
      const input = { time: kill(1).time, client: "a", type: "input", offset: 0, length: 5, text: "hello" } as const;
      await trail.append([input], new Map([["a", 5]]));
      trail.deleteBefore("2026-02-01T00:00:00.000Z");
      const next = new AuditTrail(storage);
      expect([next.read(0, 10).records, next.storedInput()]).toEqual([[], [["a", 5]]]);
    }));

  test("is read from any record on, within a batch and across batches", () =>
    withStorage(async (storage) => {
      const trail = new AuditTrail(storage);
      for (const size of [1, 3, 2]) await trail.append(Array(size).fill(kill(1)), NOBODY);
      for (let after = 0; after <= 7; after += 1) {
        for (let limit = 1; limit <= 7; limit += 1) {
          const expected = [1, 2, 3, 4, 5, 6].filter((seq) => seq > after).slice(0, limit);
          expect(trail.read(after, limit).records.map(({ seq }) => seq)).toEqual(expected);
        }
      }
    }));

  test("stores more at once than fits into one value, as many clients' input does that came during one write", () =>
    withStorage(async (storage) => {
      const trail = new AuditTrail(storage);
      const input = (i: number) =>
        ({
          time: kill(1).time,
          client: `c${i}`,
          type: "input",
          offset: 0,
          length: 65_536,
          text: encoder.encode("é€".repeat(20_000)),
        }) as const;
      const stored = new Map(Array.from({ length: 64 }, (_, i) => [`c${i}`, 65_536]));
      await trail.append(
        Array.from({ length: 128 }, (_, i) => input(i % 64)),
        stored,
      );
      const pages = [trail.read(0, 50), trail.read(50, 50), trail.read(100, 50)];
      const records = pages.flatMap((page) => page.records);
      expect([records.length, verifyChain(records)]).toEqual([128, { ok: true, head: trail.head }]);
      expect(new Map(new AuditTrail(storage).storedInput())).toEqual(stored);
    }));

  test("stores text as the bytes that it came in, lets go of them, and gives it as it was typed", () =>
    withStorage(async (storage) => {
      const trail = new AuditTrail(storage);
      const texts = ["a", "\ufeffä€😀\0", "é".repeat(20_000)];
      const events = texts.map(
        (text) =>
          ({
            time: kill(1).time,
            client: "a",
            type: "input",
            offset: 0,
            length: 1,
            text: encoder.encode(text),
          }) as const,
      );
      const stored = trail.append(events, NOBODY);
      expect(events.map(({ text }) => text.length)).toEqual([1, 13, 0]);
      await stored;
      const { records, head } = new AuditTrail(storage).read(0, 10);
      expect(records.map((record) => record.type === "input" && record.text)).toEqual(texts);
      expect(verifyChain(records)).toEqual({ ok: true, head });
    }));

  test("stores long content once and apart, raw; gives it as text or base64; and deletes it with its record", () =>
    withStorage(async (storage) => {
      const trail = new AuditTrail(storage);
      const binary = Uint8Array.from({ length: 20_000 }, (_, index) => index);
      const at = { time: kill(1).time, client: "a", type: "input", offset: 0, length: 1 } as const;
      await trail.append(
        [
          { ...at, text: encoder.encode("€".repeat(20_000)) },
          { ...at, base64: binary.slice() },
        ],
        NOBODY,
      );
      await trail.append([{ ...at, base64: binary.slice(200, 300) }], NOBODY);
      const stored = () => [...storage.sql.exec("SELECT seq, length(bytes) AS bytes FROM audit_content ORDER BY seq")];
      const batches = [...storage.kv.list<readonly object[]>({ prefix: "audit/batch/" })].map(([, batch]) => batch);
      expect(stored()).toEqual([
        { seq: 1, bytes: 60_000 },
        { seq: 2, bytes: 20_000 },
      ]);
      expect(JSON.stringify(batches[0]).length).toBeLessThan(600);
      const { records, head } = new AuditTrail(storage).read(0, 10);
      const read = records.map((record) => record.type === "input" && (record.text ?? record.base64));
      expect(read).toEqual(["€".repeat(20_000), base64(binary), base64(binary.subarray(200, 300))]);
      expect(verifyChain(JSON.parse(JSON.stringify(records)))).toEqual({ ok: true, head });
      trail.deleteBefore("2026-02-01T00:00:00.000Z");
      expect(stored()).toEqual([]);
    }));

  test("written before long content stood apart is read and verified as ever, and goes on", () =>
    withStorage(async (storage) => {
      const at = { time: kill(1).time, client: "a", type: "input", offset: 0, length: 1 } as const;
      const text = encoder.encode("é".repeat(20_000));
      const first = chained(CHAIN_START, { ...at, text });
      const second = chained(first, { ...at, base64: base64(text) });
      storage.kv.put(`audit/batch/${"1".padStart(16, "0")}`, [first, second]);
      const trail = new AuditTrail(storage);
      await trail.append([{ ...at, text: encoder.encode("ü".repeat(20_000)) }], NOBODY);
      const { records, head } = new AuditTrail(storage).read(0, 10);
      expect(records.map((record) => record.type === "input" && record.text)).toEqual([
        "é".repeat(20_000),
        undefined,
        "ü".repeat(20_000),
      ]);
      expect(verifyChain(records)).toEqual({ ok: true, head });
      trail.deleteBefore("2026-02-01T00:00:00.000Z");
      expect(trail.read(0, 10).records).toEqual([]);
    }));

  test("whose old records were deleted verifies from its anchor, also when all of them were", () =>
    withStorage(async (storage) => {
      const trail = new AuditTrail(storage);
      for (const day of [1, 2, 3]) await trail.append([kill(day), kill(day)], NOBODY);
      trail.deleteBefore("2026-01-03T00:00:00.000Z");
      const page = trail.read(0, 10);
      expect([page.anchor.seq, page.records.map(({ seq }) => seq)]).toEqual([4, [5, 6]]);
      expect(verifyChain(page.records, page.anchor)).toEqual({ ok: true, head: page.head });
      trail.deleteBefore("2026-02-01T00:00:00.000Z");
      expect(trail.deletionDueMs(0, 0)).toBeUndefined();
      const next = new AuditTrail(storage);
      expect(next.head).toEqual(page.head);
      await next.append([kill(4)], NOBODY);
      const { records, anchor } = next.read(0, 10);
      expect([records.map(({ seq }) => seq), verifyChain(records, anchor).ok]).toEqual([[7], true]);
    }));
});
