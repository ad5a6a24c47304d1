// B9: what is typed into a pane by name is on record as all other input is.
import { env, runInDurableObject } from "cloudflare:test";
import type { ClientRecord } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { SessionAudit } from "../../src/audit/session-audit.ts";
import type { AuditSettings } from "../../src/audit/settings.ts";
import { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const alice = (received: number) => ({ id: "a", acknowledges: true, input: { received } }) as unknown as ClientRecord;

function recorded(
  mode: AuditSettings["mode"],
  act: (audit: SessionAudit) => void,
): Promise<{ records: object[]; stored: [string, number][] }> {
  const stub = (env as unknown as Env).SESSION.getByName(crypto.randomUUID());
  return runInDurableObject(stub, async (_object, { storage }) => {
    const ports = { isTty: () => true, storing: () => undefined, stored: () => undefined };
    const failed = (error: unknown) => {
      throw error;
    };
    const settings = { mode, retentionMs: 1_000, allowsSecret: true };
    const audit = new SessionAudit({ trail: new AuditTrail(storage), settings, ...ports, failed });
    act(audit);
    await audit.flush();
    // As the next life of the object reads it.
    const trail = new AuditTrail(storage);
    const said = trail.read(0, 20).records.map(({ seq: _seq, hash: _hash, time: _time, ...rest }) => rest);
    return { records: said, stored: trail.storedInput() };
  });
}

test("its text, in one record for what follows directly, between its client's counted input, and in no count", async () => {
  const { records, stored } = await recorded("content", (audit) => {
    audit.input(alice(0), 0, 0, bytes("one"), "typed");
    audit.paneInput(alice(3), "left", bytes("ls"), "typed");
    audit.paneInput(alice(3), "left", bytes("\r"), "typed");
    audit.paneInput(alice(3), "%1", bytes("pwd\r"), "typed");
    audit.input(alice(3), 3, 3, bytes("two"), "typed");
  });
  expect(records).toEqual([
    { client: "a", type: "input", offset: 0, length: 3, text: "one" },
    { client: "a", type: "input", pane: "left", offset: 3, length: 3, text: "ls\r" },
    { client: "a", type: "input", pane: "%1", offset: 3, length: 4, text: "pwd\r" },
    { client: "a", type: "input", offset: 3, length: 3, text: "two" },
  ]);
  expect(stored).toEqual([["a", 6]]);
});

test("its length alone, where content is switched off, and while its client's input is secret", async () => {
  const { records } = await recorded("lengths", (audit) => audit.paneInput(alice(0), "left", bytes("ls\r"), "typed"));
  expect(records).toEqual([{ client: "a", type: "input", pane: "left", offset: 0, length: 3 }]);
  const secret = await recorded("content", (audit) => {
    audit.setSecret("a", true);
    audit.paneInput(alice(0), "left", bytes("hunter2\r"), "typed");
  });
  expect(secret.records[1]).toEqual({
    ...{ client: "a", type: "input", pane: "left", offset: 0, length: 8 },
    secret: true,
  });
});

test("refused: its length alone, merged whatever panes are named, and counted for nobody", async () => {
  const { records, stored } = await recorded("content", (audit) => {
    for (let i = 0; i < 50; i++) audit.paneInput(alice(7), `pane-${i}`, bytes("rm -rf /"), "refused");
    audit.note({ type: "pane", action: "close", pane: "left" }, "a");
  });
  const refused = { client: "a", type: "input", offset: 7, refused: true };
  expect(records).toEqual([
    { ...refused, pane: "pane-0", length: 8 },
    { client: "a", type: "pane", action: "close", pane: "left" },
    { ...refused, pane: "pane-1", length: 49 * 8, times: 49, until: expect.any(String) },
  ]);
  expect(stored).toEqual([]);
});

test("what is done with panes without end is one record for each kind and run", async () => {
  const { records } = await recorded("content", (audit) => {
    for (let i = 0; i < 500; i++) audit.note({ type: "pane", action: "zoom", pane: `%${i}` }, "a");
  });
  expect(records.length).toBe(11);
  expect(records.at(-1)).toMatchObject({ type: "pane", action: "zoom", times: 490 });
});
