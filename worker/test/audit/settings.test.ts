// The settings of the audit that need no whole system to be shown; `AUDIT=lengths` has one, AUDIT=off is what the parking tests run with.
import { env, runInDurableObject } from "cloudflare:test";
import type { ClientRecord } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { SessionAudit } from "../../src/audit/session-audit.ts";
import { readAuditSettings } from "../../src/audit/settings.ts";
import { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";

test("AUDIT_SECRET=off: what a client declares secret is kept like all other input, and it is told so", () => {
  const stub = (env as unknown as Env).SESSION.getByName(crypto.randomUUID());
  return runInDurableObject(stub, async (_object, { storage }) => {
    const settings = readAuditSettings({ AUDIT_SECRET: "off" });
    const ports = { isTty: () => true, storing: () => undefined, stored: () => undefined };
    const failed = (error: unknown) => {
      throw error;
    };
    const audit = new SessionAudit({ trail: new AuditTrail(storage), settings, ...ports, failed });
    // Whether it was done as it was asked for.
    expect([audit.setSecret("a", true), audit.isSecret("a")]).toEqual([false, false]);
    const client = { id: "a", acknowledges: true, input: { received: 0 } } as unknown as ClientRecord;
    audit.input(client, 0, 0, new TextEncoder().encode("hunter2"), "typed");
    await audit.flush();
    const records = new AuditTrail(storage).read(0, 20).records;
    expect(records).toMatchObject([{ client: "a", type: "input", offset: 0, length: 7, text: "hunter2" }]);
  });
});

test.each([{ AUDIT: "some" }, { AUDIT_RETENTION: "90 days" }])("%j is refused, naming the variable", (settings) => {
  const [name = ""] = Object.keys(settings);
  expect(() => readAuditSettings(settings)).toThrow(name);
});
