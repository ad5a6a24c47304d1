// What is on record of a session, and that nothing acknowledged is missing from it, whatever is killed.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type AuditRecord, auditOf, auditorOf, recordsAt, said } from "../support/clients/audit.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { api, fresh, person, restartWorker, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const idOf = async (client: TestClient) => ((await client.hello()).you as { id: string }).id;
const acked = (client: TestClient) => Math.max(0, ...client.messages("stdin_ack").map(({ offset }) => Number(offset)));

test("who attached, typed, signalled, was refused and left is on record, with what was typed", async () => {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, tty: 1, cmd: "cat", name: "first" });
  const id = await idOf(client);
  client.type("hello\r");
  await client.output("hello\r\nhello\r\n");
  await client.until("its ack", () => acked(client) === 6);
  const viewer = await connect(who, { session, role: "viewer" });
  const viewerId = await idOf(viewer);
  viewer.type("x");
  expect(await viewer.message("error")).toMatchObject({ code: "not_stdin_holder" });
  await viewer.leave();
  client.say({ type: "signal", signal: "SIGTERM" });
  await client.end();

  const records = await until("the last detach", async () => {
    const all = await auditOf(who, session);
    return all.filter(({ type }) => type === "detach").length === 2 ? all : undefined;
  });
  const actor = { tenant: who.org, user: who.sub, address: expect.any(String) };
  const mine = { ...actor, client: id };
  const theirs = { ...actor, client: viewerId };
  expect(records.map(said)).toEqual([
    { ...actor, type: "start", incarnation: (await client.hello()).incarnation, command: ["cat"], tty: true },
    { ...mine, type: "attach", name: "first", role: "driver", kind: "person" },
    { ...mine, type: "input", offset: 0, length: 6, text: "hello\r" },
    { ...theirs, type: "attach", name: expect.any(String), role: "viewer", kind: "person" },
    { ...theirs, type: "input", offset: 0, length: 1, refused: true },
    { ...theirs, type: "refused", error: "not_stdin_holder", message: "not stdin holder" },
    { ...theirs, type: "detach", code: 1000 },
    { ...theirs, type: "leave", how: "left" },
    { ...mine, type: "signal", signal: "SIGTERM" },
    { type: "exit", code: 143, signal: "SIGTERM" },
    { ...mine, type: "detach", code: 1000 },
  ]);
  for (const record of records) {
    expect(record).toMatchObject({ sandbox: "default", session });
    expect(new Date(record.time).toISOString()).toBe(record.time);
  }
});

test("where a process was started and with which variables, sizes and the end of input are on record; values are not", async () => {
  const who = await person();
  const session = fresh("s");
  const env = ["API_KEY=hunter2", "EMPTY="];
  const client = await connect(who, { session, tty: 1, cmd: "cat", cwd: "/tmp", env, cols: 80, rows: 24 });
  await client.hello();
  client.say({ type: "resize", cols: 100, rows: 30 });
  await client.until("the size", () => client.messages("resize").some(({ cols }) => cols === 100));
  client.say({ type: "eof" });
  await client.end();
  const records = await until("the exit", async () => {
    const all = await auditOf(who, session);
    return all.some(({ type }) => type === "exit") && all;
  });
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const of = (type: string) => records.filter((record) => record.type === type).map(said);
  expect(of("start")).toEqual([
    expect.objectContaining({
      cwd: "/tmp",
      env: [
        { name: "API_KEY", sha256: sha256("hunter2") },
        { name: "EMPTY", sha256: sha256("") },
      ],
    }),
  ]);
  expect(of("resize")).toEqual([expect.objectContaining({ user: who.sub, cols: 100, rows: 30 })]);
  expect(of("eof")).toEqual([expect.objectContaining({ user: who.sub, offset: 0 })]);
  expect(JSON.stringify(records)).not.toContain("hunter2");
});

test("who comes by a link from another tenant is on record with that tenant and the ticket's id", async () => {
  const [who, stranger] = [await person(), await person()];
  const session = fresh("s");
  await (await connect(who, { session, cmd: "cat" })).hello();
  const body = JSON.stringify({ role: "driver", seconds: 60 });
  const shared = await api(who, `/api/sandboxes/default/sessions/${session}/share`, { method: "POST", body });
  const { id, ticket } = (await shared.json()) as { id: string; ticket: string };
  const guest = await connect(stranger, { ticket, session });
  const client = await idOf(guest);
  guest.type("x");
  await guest.until("its ack", () => acked(guest) === 1);
  const records = (await auditOf(who, session)).filter((record) => record.client === client);
  const actor = { tenant: stranger.org, user: stranger.sub, address: expect.any(String), ticket: id, client };
  expect(records.map(said)).toEqual([
    { ...actor, type: "attach", name: expect.any(String), role: "driver", kind: "person" },
    { ...actor, type: "input", offset: 0, length: 1, sha256: expect.any(String) },
  ]);
});

test("a keyboard that changes hands, and one that is taken by force, are on record", async () => {
  const who = await person();
  const session = fresh("s");
  const first = await connect(who, { session, tty: 1, cmd: "cat", mode: "exclusive" });
  const second = await connect(await auditorOf(who), { session });
  const [one, two] = [await idOf(first), await idOf(second)];
  first.say({ type: "release_stdin" });
  await second.until("a free keyboard", () => second.messages("stdin_holder").some(({ id }) => id === ""));
  first.say({ type: "request_stdin" });
  await second.until("one's keyboard", () => second.messages("stdin_holder").some(({ id }) => id === one));
  second.say({ type: "force_take" });
  await second.until("two's keyboard", () => second.messages("stdin_holder").some(({ id }) => id === two));
  const holders = (await auditOf(who, session)).filter(({ type }) => type === "holder");
  expect(holders.map(({ client, from, to }) => [client, from, to])).toEqual([
    [one, "", one],
    [one, one, ""],
    [one, "", one],
    [two, one, two],
  ]);
});

test("a link that is made and revoked is on record: who made it, whom it let in, who ended it, and whose place that cost", async () => {
  const who = await person();
  const bob = await person({ org: who.org });
  const session = fresh("s");
  await (await connect(who, { session, cmd: "cat" })).hello();
  const path = `/api/sandboxes/default/sessions/${session}`;
  const body = JSON.stringify({ role: "viewer", guests: true, seconds: 60 });
  const shared = await api(who, `${path}/share`, { method: "POST", body });
  const { id, ticket, expiresAt } = (await shared.json()) as { id: string; ticket: string; expiresAt: string };
  const guest = await connect(undefined, { ticket, role: "viewer", name: "guest" }, { tokenIn: "nowhere" });
  const client = await idOf(guest);
  expect((await api(bob, `${path}/tickets/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await guest.end()).code).toBe(4401);

  const isShared = ({ type, client: of }: AuditRecord) => type === "share" || type === "revoke" || of === client;
  const records = await until("the detach", async () => {
    const all = (await auditOf(who, session)).filter(isShared);
    return all.some(({ type }) => type === "detach") && all;
  });
  const actor = { tenant: who.org, address: expect.any(String) };
  const theirs = { ...actor, user: expect.stringContaining(id), ticket: id, client };
  expect(records.map(said)).toEqual([
    { ...actor, user: who.sub, type: "share", ticket: id, role: "viewer", guests: true, expiresAt },
    { ...theirs, type: "attach", name: "guest", role: "viewer", kind: "guest" },
    { ...actor, user: bob.sub, type: "revoke", ticket: id },
    { ...theirs, type: "closed", code: 4401, reason: "the ticket was revoked" },
    { ...theirs, type: "leave", how: "left" },
    { ...theirs, type: "detach", code: 4401 },
  ]);
  expect(JSON.stringify(records)).not.toContain(ticket);
});

test("a revocation is on record in its tenant, by whom and of whom, also where it ended nothing; its sessions say what it ended", async () => {
  const bob = await person();
  const session = fresh("s");
  const client = await connect(bob, { session, cmd: "cat" });
  const id = await idOf(client);
  const admin = await person({ org: bob.org });
  const { token } = await auditorOf(admin);
  const revoke = async (body: object) =>
    (await api({ ...admin, token }, "/api/revocations", { method: "POST", body: JSON.stringify(body) })).status;
  const unused = fresh("token");
  expect([await revoke({ jti: unused }), await revoke({ sub: bob.sub })]).toEqual([204, 204]);
  expect((await client.end()).code).toBe(4401);
  const ended = await until("the detach", async () => {
    const records = (await auditOf(admin, session)).map(said);
    return records.at(-1)?.type === "detach" && records.slice(-3);
  });
  const whose = { tenant: bob.org, user: bob.sub, address: expect.any(String), client: id };
  expect(ended).toEqual([
    { ...whose, type: "closed", code: 4401, reason: "access was revoked" },
    { ...whose, type: "leave", how: "left" },
    { ...whose, type: "detach", code: 4401 },
  ]);

  await restartWorker();
  const url = `${system.origin}/api/audit`;
  const by = { tenant: bob.org, user: admin.sub, address: expect.any(String), type: "revoke" };
  for (const limit of [1, 1000]) {
    expect((await recordsAt(url, token, limit)).map(said)).toEqual([
      { ...by, jti: unused },
      { ...by, sub: bob.sub },
    ]);
  }

  // It is the tenant's own, and its auditors'.
  expect(await recordsAt(url, (await auditorOf(await person())).token)).toEqual([]);
  const carol = await person({ org: bob.org });
  const statuses = await Promise.all([api(carol, "/api/audit"), api(undefined, "/api/audit")]);
  const wrong = await api({ ...admin, token }, "/api/audit?limit=0");
  expect([...statuses, wrong].map(({ status }) => status)).toEqual([403, 401, 400]);
});
