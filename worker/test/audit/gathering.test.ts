// How much input one transaction of the audit holds.
import { env, runInDurableObject } from "cloudflare:test";
import type { ClientRecord } from "@sbx/sandbox-stdio";
import { expect, test } from "vitest";
import { SessionAudit } from "../../src/audit/session-audit.ts";
import { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";

const FRAME = new Uint8Array(65_536).fill(97);
const CLIENT = { id: "a" } as ClientRecord;

test("much input is stored in halves of what a client may have unacknowledged, without waiting for the clock", () =>
  runInDurableObject((env as unknown as Env).SESSION.getByName(crypto.randomUUID()), async (_object, { storage }) => {
    const trail = new AuditTrail(storage);
    const audit: SessionAudit = new SessionAudit({
      trail,
      settings: { mode: "content", retentionMs: 1, allowsSecret: true },
      isTty: () => true,
      storing: () => undefined,
      stored: () => undefined,
      failed: (error) => {
        throw error;
      },
    });
    for (let at = 0; at < 4 * FRAME.length; at += FRAME.length) audit.input(CLIENT, at, at, FRAME, "typed");
    await audit.flush();
    const batches = [...storage.kv.list<readonly { length: number }[]>({ prefix: "audit/batch/" })];
    const lengths = batches.map(([, records]) => records.map(({ length }) => length));
    expect(lengths).toEqual([Array(2).fill(FRAME.length), Array(2).fill(FRAME.length)]);
    expect(audit.storedUpTo("a")).toBe(4 * FRAME.length);
  }));
