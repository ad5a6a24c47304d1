// What each setting of the audit keeps of what was typed, and what it does not. On systems of their own: these are
// settings of the Worker.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type AuditRecord, recordsAt } from "../support/clients/audit.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";

let undo: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

async function start(workerVars: Record<string, string>): Promise<System> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-audit-"));
  undo.push(async () => rmSync(dir, { recursive: true, force: true }));
  const system = await startSystem({ dir, workerVars: { TENANT_CLAIM: "org_id", ...workerVars } });
  undo.push(() => system.stop());
  return system;
}

async function person(system: System): Promise<Person> {
  const [sub, org] = [fresh("person"), fresh("org")];
  return { sub, org, token: await system.mintToken({ sub, org }) };
}

/** Types openly and in secret, on a terminal or into a pipe, and waits until all of it is acknowledged. */
async function type(system: System, who: Person, session: string, tty: 0 | 1): Promise<TestClient> {
  const params = { session, cmd: "cat", ...(tty === 1 ? { tty } : {}) };
  const client = await connect(who, params, { server: system.origin.replace(/^http/, "ws") });
  await client.hello();
  const acked = () => client.messages("stdin_ack").at(-1)?.offset;
  client.type("open sesame");
  await client.until("its ack", () => acked() === 11);
  client.say({ type: "secret", on: true });
  client.type("hunter2");
  await client.until("its ack", () => acked() === 18);
  return client;
}

const urlOf = (system: System, session: string) => `${system.origin}/api/sandboxes/default/sessions/${session}/audit`;

async function auditor(system: System, { sub, org }: Person): Promise<string> {
  return system.mintToken({ sub, org, scope: "sandbox:admin" });
}

/** What is on record of the typing. */
async function typed(system: System, who: Person, session: string): Promise<object[]> {
  const records = await recordsAt(urlOf(system, session), await auditor(system, who));
  return records
    .filter((record) => record.type === "input" || record.type === "secret")
    .map(({ type, on, offset, length, text, base64, sha256, secret }: AuditRecord) =>
      type === "secret" ? { on } : { offset, length, text, base64, sha256, secret },
    );
}

/** All that a system keeps on disk, as one text. */
function stored({ dir }: System): string {
  const files = readdirSync(join(dir, "state"), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("");
}

test("AUDIT=lengths: of what is typed on a terminal its length alone is kept, of input on pipes the hash too", async () => {
  const system = await start({ AUDIT: "lengths" });
  const who = await person(system);
  const [terminal, pipe] = [fresh("s"), fresh("s")];
  await type(system, who, terminal, 1);
  await type(system, who, pipe, 0);
  const secret = [{ on: true }, { offset: 11, length: 7, secret: true }];
  expect(await typed(system, who, terminal)).toEqual([{ offset: 0, length: 11 }, ...secret]);
  expect(await typed(system, who, pipe)).toEqual([
    { offset: 0, length: 11, sha256: "41ef4bb0b23661e66301aac36066912dac037827b4ae63a7b1165a5aa93ed4eb" },
    ...secret,
  ]);
  // Nor is it anywhere beside the record.
  const text = stored(system);
  expect([text.includes("open sesame"), text.includes("hunter2")]).toEqual([false, false]);
});

test("AUDIT=off: nothing is on record, and what is typed is acknowledged all the same", async () => {
  const system = await start({ AUDIT: "off" });
  const who = await person(system);
  const session = fresh("s");
  await type(system, who, session, 1);
  const headers = { Authorization: `Bearer ${await auditor(system, who)}` };
  const answer = await fetch(urlOf(system, session), { headers });
  expect([answer.status, await answer.json()]).toEqual([404, expect.objectContaining({ error: "not_found" })]);
  const text = stored(system);
  expect(["open sesame", "hunter2", "audit/batch"].filter((one) => text.includes(one))).toEqual([]);
});

test("AUDIT_SECRET=off: what a client declares secret is kept like all other input, and it is told so", async () => {
  const system = await start({ AUDIT_SECRET: "off" });
  const who = await person(system);
  const session = fresh("s");
  const client = await type(system, who, session, 1);
  expect([...client.messages("error"), ...client.messages("secret")]).toEqual([
    expect.objectContaining({ code: "not_allowed", message: expect.stringContaining("secret input") }),
    { type: "secret", on: false },
  ]);
  expect(await typed(system, who, session)).toEqual([
    { offset: 0, length: 11, text: "open sesame" },
    { offset: 11, length: 7, text: "hunter2" },
  ]);
  // That the tests above find nothing stored is because nothing is.
  const text = stored(system);
  expect(["open sesame", "hunter2", "audit/batch"].filter((one) => !text.includes(one))).toEqual([]);
});
