// The seed's terminal proxy, T7.1 to T7.15 and its acceptance list: a ttyd that runs in a sandbox, reached through the Worker, with a
// Project Service that says whose project it is. And beyond the seed: the ttyd's own page, tickets for it, roles and revocation.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { type ChainedRecord, verifyChain } from "../../../worker/src/audit/chain.ts";
import { sandboxKey } from "../../../worker/src/auth/names.ts";
import { parseTerminalAddress } from "../../../worker/src/terminal/path.ts";
import { ttydAddress } from "../../../worker/src/terminal/ttyd-address.ts";
import { TmuxTerminal } from "../support/clients/tmux-terminal.ts";
import { dropTtydClients, TtydClient } from "../support/clients/ttyd-client.ts";
import { TTYD_PAGE } from "../support/servers/ttyd-server.ts";
import { allProcesses } from "../support/system/processes.ts";
import { fresh } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";
import {
  address,
  asked,
  connect,
  connected,
  type Owner,
  owner,
  projects,
  system,
  ttyd,
  withTerminalSystem,
} from "../support/terminal-system.ts";

withTerminalSystem();

type Deed = Readonly<Record<string, unknown>> & { readonly type: string; readonly time: string };

/** What is on record of somebody's project, after its chain was verified. */
async function auditOf({ sub, project, user }: Owner): Promise<Deed[]> {
  const token = await system.mintToken({ sub, scope: "sandbox:admin" });
  projects.owns(token, project, user);
  const path = `/api/sandboxes/${project}/sessions/main/audit?limit=1000`;
  const answer = await fetch(`${system.origin}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  // Nothing is stored yet.
  if (answer.status === 404) return [];
  const { records } = (await answer.json()) as { records: (Deed & ChainedRecord)[] };
  expect(verifyChain(records)).toMatchObject({ ok: true });
  return records;
}

/** How long the Worker's log is now: what it holds beyond that is new. */
const logged = () => readFileSync(system.worker.logFile, "utf8").length;

/** Errors that the Worker has logged since then. */
function errorsSince(start: number): string[] {
  const lines = readFileSync(system.worker.logFile, "utf8").slice(start).split("\n");
  return lines.filter((line) => /\[ERROR\]|uncaught|unhandled|hanging/i.test(line));
}

/** Open sockets of the Worker's processes. */
function openSockets(): number {
  const pids = allProcesses().filter(({ group, name }) => group === system.pids.worker && name === "workerd");
  const files = pids.flatMap(({ pid }) => readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`));
  return files.filter(isSocket).length;
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith("socket:");
  } catch {
    return false; // It was closed meanwhile.
  }
}

test("T7.1: URL parsing extracts project_id and token", () => {
  const with_token = parseTerminalAddress("/terminal/abc-123?token=eyJhbG.x.y");
  expect(with_token).toMatchObject({ project: "abc-123", token: "eyJhbG.x.y" });
  expect(parseTerminalAddress("/terminal/abc-123/ws?token=t")).toMatchObject({ project: "abc-123", token: "t" });
  expect(parseTerminalAddress("/terminal/abc-123")).toEqual({ project: "abc-123", part: "ws", token: undefined });
  for (const target of [
    "/invalid/path",
    "/terminal/",
    "/terminal",
    "/terminal/a/b",
    "/terminal/a/ws/x",
    "/x/terminal/a",
  ]) {
    expect(parseTerminalAddress(target)).toBeUndefined();
  }
});

test("T7.2: Valid JWT — connection accepted", async () => {
  const who = await owner();
  const [client, terminal] = await connected(who);
  expect(client.socket.protocol).toBe("tty");
  terminal.socket.send(Buffer.from("0welcome"));
  await client.shows("welcome");
  expect(client.socket.readyState).toBe(client.socket.OPEN);
  expect(asked(who.project)).toMatchObject([
    { method: "POST", url: "/internal/validate", body: { token: who.token, project_id: who.project } },
  ]);
});

test("T7.3: Invalid JWT — connection rejected with 4401", async () => {
  const { project, token, key } = await owner();
  for (const bad of ["eyJhbG", `${token.slice(0, -4)}AAAA`, await system.mintToken({ expires: -60 })]) {
    const client = await connect({ project, token: bad });
    expect(await client.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  }
  // One that is good for us, and that the Project Service answers with 401.
  const stranger = await connect({ project, token: await system.mintToken({ sub: fresh("person") }) });
  expect(await stranger.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  expect(ttyd.to(key)).toEqual([]);
});

test("T7.4: Missing token — connection rejected", async () => {
  const { project, key } = await owner();
  const client = await TtydClient.connect(address(project));
  expect(await client.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  const empty = await TtydClient.connect(address(project, ""), { protocols: [] });
  expect(await empty.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  expect([asked(project), ttyd.to(key)]).toEqual([[], []]);
});

test("T7.5: Wrong project ownership — connection rejected", async () => {
  const [mine, other] = [await owner(), await owner()];
  const before = ttyd.connections.length;
  const client = await connect({ project: other.project, token: mine.token });
  expect(await client.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  expect(asked(other.project)).toHaveLength(1);
  expect(ttyd.connections.length).toBe(before);
});

test("T7.6: Proxy forwards client input to ttyd", async () => {
  const [client, terminal] = await connected(await owner());
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  client.socket.send("ls -la\r");
  client.socket.send(Buffer.from("0ls -la\r"));
  client.socket.send(every);
  client.socket.send("0ä€😀");
  client.socket.send(Buffer.alloc(0));
  await until("six messages", () => terminal.received.length === 6);
  expect(terminal.received.map(({ bytes, isBinary }) => (isBinary ? bytes : bytes.toString()))).toEqual([
    Buffer.from('{"AuthToken":"","columns":80,"rows":24}'),
    "ls -la\r",
    Buffer.from("0ls -la\r"),
    every,
    "0ä€😀",
    Buffer.alloc(0),
  ]);
});

test("T7.7: Proxy forwards ttyd output to client", async () => {
  const [client, terminal] = await connected(await owner());
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const large = Buffer.alloc(200_000, "0");
  terminal.socket.send(every);
  terminal.socket.send("1title in text");
  terminal.socket.send(Buffer.from("0\u001b[31mä€😀\u001b[0m"));
  terminal.socket.send(large);
  await until("four messages", () => client.received.length === 4);
  expect(client.received).toEqual([
    { bytes: every, isBinary: true },
    { bytes: Buffer.from("1title in text"), isBinary: false },
    { bytes: Buffer.from("0\u001b[31mä€😀\u001b[0m"), isBinary: true },
    { bytes: large, isBinary: true },
  ]);
});

test("T7.8: Audit log captures input", async () => {
  const who = await owner();
  const from = Date.now();
  const [client, terminal] = await connected(who);
  const [typed, long] = [["ls -la\r", "\u0003", "ä€😀"], "x".repeat(70_000)];
  for (const text of typed) client.type(text);
  client.resize(100, 30);
  client.socket.send(Buffer.from([0x30, 0xff]));
  terminal.socket.send(Buffer.from("0total 0\r\n"));
  await client.shows("total 0");
  client.type(long);
  await client.leave(1000);
  const records = await until("the end in the record", async () => {
    const all = await auditOf(who);
    return all.at(-1)?.type === "detach" && all;
  });
  const input = records.filter(({ type }) => type === "input");
  expect(input.map(({ text, base64 }) => text ?? base64)).toEqual([
    ...typed,
    Buffer.from([0xff]).toString("base64"),
    long.slice(0, 65_536),
    long.slice(65_536),
  ]);
  expect(records.map(({ type }) => type)).toEqual(["attach", ...input.map(() => "input"), "detach"]);
  for (const record of records) {
    expect(record).toMatchObject({ sandbox: who.project, session: "main", tenant: who.sub, user: who.user });
    const time = Date.parse(record.time);
    expect([time >= from, time <= Date.now()]).toEqual([true, true]);
  }
  expect(JSON.stringify(records)).not.toContain("total 0");
});

test("T7.9: Container not running — connection fails gracefully", async () => {
  const who = await owner();
  const start = logged();
  await ttyd.kill();
  try {
    const client = await connect(who);
    expect(await client.end()).toEqual({ code: 4503, reason: "Container not running" });
    const page = await fetch(`${system.origin}/terminal/${who.project}/token`, bearer(who));
    expect([page.status, await page.json()]).toEqual([503, { error: "not_running", message: "Container not running" }]);
  } finally {
    await ttyd.start();
  }
  await connected(who);
  expect((await fetch(`${system.origin}/healthz`)).status).toBe(200);
  expect(errorsSince(start)).toEqual([]);
});

test("T7.10: Container bridge IP lookup", async () => {
  const [one, two] = [await owner(), await owner()];
  expect(ttydAddress({ port: 7681, localUrl: undefined }, one.key)).toEqual({
    kind: "container",
    sandboxKey: one.key,
    port: 7681,
  });
  // The same project of another tenant is another sandbox.
  const others = await sandboxKey(two.tenant, one.project);
  expect(new Set([one.key, two.key, others]).size).toBe(3);
  await Promise.all([connected(one), connected(two)]);
  expect(
    ttyd.connections
      .slice(-2)
      .map(({ sandbox }) => sandbox)
      .sort(),
  ).toEqual([one.key, two.key].sort());
});

test("T7.11: Connection to ttyd via bridge IP", async () => {
  const tmux = new TmuxTerminal();
  try {
    ttyd.serve = tmux.serve;
    const [client] = await connected(await owner());
    await client.shows("tmux$ ");
    expect([client.said("1")[0], client.said("2")]).toEqual([expect.stringMatching(/^tmux \(.*\)$/), ["{ }"]]);
    client.type("echo hel''lo\r");
    await client.shows("hello");
    client.type("stty size; exit\r");
    await client.shows("23 80"); // tmux has a line of its own.
    expect(await client.end()).toEqual({ code: 1000, reason: "" });
    await until("no client of tmux", () => tmux.clientCount === 0);
  } finally {
    tmux.close();
  }
});

test("T7.12: Client disconnect — proxy cleans up", async () => {
  const [before, start] = [openSockets(), logged()];
  for (const [how, code] of [
    ["close", 1000],
    ["close", 1001],
    ["close", 4000],
    ["drop", 1001],
  ] as const) {
    const [client, terminal] = await connected(await owner());
    if (how === "close") client.socket.close(code);
    else client.socket.terminate();
    expect((await until("the ttyd to hear of it", () => terminal.closed)).code).toBe(code);
  }
  await until("no socket left open", () => openSockets() <= before);
  expect(errorsSince(start)).toEqual([]);
});

test("T7.13: ttyd disconnect — proxy notifies client", async () => {
  const who = await owner();
  const start = logged();
  const [exited, first] = await connected(who);
  first.socket.close(1000);
  expect(await exited.end()).toEqual({ code: 1000, reason: "" });
  const [failed, second] = await connected(who, 1);
  second.socket.terminate();
  expect(await failed.end()).toEqual({ code: 1011, reason: "the terminal has closed the connection" });
  const [lost] = await connected(who, 2);
  await ttyd.kill();
  const end = await lost.end();
  await ttyd.start();
  expect(end).toEqual({ code: 4503, reason: "Container not running" });
  expect(errorsSince(start)).toEqual([]);
});

test("T7.14: Concurrent connections to same sandbox", async () => {
  const tmux = new TmuxTerminal();
  try {
    ttyd.serve = tmux.serve;
    const who = await owner();
    const [[a, atA], [b, atB]] = [await connected(who), await connected(who, 1)];
    await Promise.all([a.shows("tmux$ "), b.shows("tmux$ ")]);
    a.type("echo from''-a\r");
    await Promise.all([a.shows("from-a"), b.shows("from-a")]);
    b.type("echo from''-b\r");
    await Promise.all([a.shows("from-b"), b.shows("from-b")]);
    expect([atA.said("0"), atB.said("0")]).toEqual([["echo from''-a\r"], ["echo from''-b\r"]]);
    const records = (await auditOf(who)).filter(({ type }) => type === "input");
    expect(records.map(({ text }) => text)).toEqual(["echo from''-a\r", "echo from''-b\r"]);
    expect(new Set(records.map(({ client }) => client)).size).toBe(2);
    await a.leave();
    b.type("echo still''-here\r");
    await b.shows("still-here");
  } finally {
    dropTtydClients();
    tmux.close();
  }
});

test("T7.15: last_connection_at updated on connect", async () => {
  const who = await owner();
  expect(projects.lastConnectionAt.get(who.project)).toBeUndefined();
  const from = Date.now();
  await connected(who);
  const at = projects.lastConnectionAt.get(who.project) ?? 0;
  expect([at >= from, at - from < 5_000]).toEqual([true, true]);
});

test("the ttyd's page and token are answered at its prefix, in an origin of their own", async () => {
  const who = await owner();
  const token = await fetch(`${system.origin}/terminal/${who.project}/token`, bearer(who));
  expect([token.status, token.headers.get("content-type"), await token.text()]).toEqual([
    200,
    "application/json;charset=utf-8",
    '{"token": ""}',
  ]);
  for (const path of ["", "/"]) {
    const page = await fetch(`${system.origin}/terminal/${who.project}${path}`, bearer(who));
    expect([page.status, page.headers.get("content-type"), await page.text()]).toEqual([200, "text/html", TTYD_PAGE]);
    expect(page.headers.get("content-security-policy")).toMatch(/^sandbox allow-scripts allow-modals allow-downloads;/);
  }
  expect((await fetch(`${system.origin}/terminal/${who.project}/token`)).status).toBe(401);
});

test("a page that a browser asks for gets a ticket for one connection in place of the token", async () => {
  const who = await owner();
  const plain = `${system.origin}/terminal/${who.project}`;
  const sent = await fetch(`${plain}?token=${who.token}`, { redirect: "manual" });
  const location = new URL(sent.headers.get("location") ?? "", system.origin);
  expect([sent.status, location.pathname, [...location.searchParams.keys()]]).toEqual([
    302,
    `/terminal/${who.project}`,
    ["session", "ticket"],
  ]);
  const page = await fetch(location, { redirect: "manual" });
  expect([page.status, await page.text()]).toEqual([200, TTYD_PAGE]);
  const socket = `${address(who.project, undefined, "/ws")}${location.search}`;
  const elsewhere = TtydClient.connect(socket, { headers: { Origin: system.origin } });
  await expect(elsewhere).rejects.toThrow("403");
  const client = await TtydClient.connect(socket, { headers: { Origin: "null" } });
  const terminal = await ttyd.connection(who.key);
  terminal.socket.send(Buffer.from("0welcome"));
  await client.shows("welcome");
  const again = await TtydClient.connect(socket, { headers: { Origin: "null" } });
  expect(await again.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  // Of another project it is no ticket.
  const other = await TtydClient.connect(socket.replace(who.project, "other"), { headers: { Origin: "null" } });
  expect(await other.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  expect((await fetch(`${system.origin}/terminal/other${location.search}`, { redirect: "manual" })).status).toBe(401);
  expect(asked(who.project)).toHaveLength(1);
});

test("somebody who was revoked gets neither page nor token, nor the page by a ticket from before", async () => {
  const who = await owner();
  const plain = `${system.origin}/terminal/${who.project}`;
  const location = (await fetch(`${plain}?token=${who.token}`, { redirect: "manual" })).headers.get("location");
  const page = new URL(location ?? "", system.origin);
  expect((await fetch(page, { redirect: "manual" })).status).toBe(200);
  // Each is a tenant of their own here, and so their own administrator.
  const admin = await system.mintToken({ sub: who.sub, scope: "sandbox:admin" });
  const revoked = await fetch(`${system.origin}/api/revocations`, {
    method: "POST",
    headers: { Authorization: `Bearer ${admin}` },
    body: JSON.stringify({ sub: who.sub }),
  });
  expect(revoked.status).toBe(204);
  const refused = [
    await fetch(plain, bearer(who)),
    await fetch(`${plain}/token`, bearer(who)),
    await fetch(`${plain}?token=${who.token}`, { redirect: "manual" }),
    await fetch(page, { redirect: "manual" }),
  ];
  for (const response of refused) {
    expect([response.status, await response.json()]).toEqual([401, expect.objectContaining({ error: "revoked" })]);
  }
});

test("a token in the first message lets in, and does not reach the ttyd, however its client has come", async () => {
  const who = await owner();
  const basic = Buffer.from(`user:${who.token}`).toString("base64");
  const first = (AuthToken: string) => JSON.stringify({ AuthToken, columns: 90, rows: 30 });
  const urls = [address(who.project), address(who.project), address(who.project, who.token)];
  for (const [index, token] of [who.token, basic, who.token].entries()) {
    await TtydClient.connect(urls[index] ?? "", { first: first(token) });
    const terminal = await ttyd.connection(who.key, index);
    await until("the first message", () => terminal.received.length === 1);
    expect(terminal.received[0]).toEqual({ bytes: Buffer.from(first("")), isBinary: true });
  }
  // One that is no token of ours may be the ttyd's own.
  await TtydClient.connect(address(who.project, who.token), { first: first("secret") });
  const terminal = await ttyd.connection(who.key, 3);
  await until("the first message", () => terminal.received.length === 1);
  expect(terminal.received[0]?.bytes.toString()).toBe(first("secret"));
  const stranger = await TtydClient.connect(address(who.project), {
    first: first(await system.mintToken({ sub: fresh("person") })),
  });
  expect(await stranger.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  projects.fault = { status: 500, body: "" };
  const early = await TtydClient.connect(address(who.project), { first: first(who.token) });
  expect(await early.end()).toEqual({ code: 4503, reason: "Project Service unavailable" });
});

test("role=viewer is refused, of a token as of a ticket: a ttyd would let a viewer type", async () => {
  const who = await owner();
  const asViewer = `${address(who.project, who.token)}&role=viewer`;
  expect(await (await TtydClient.connect(asViewer)).end()).toEqual({
    code: 4403,
    reason: "This ttyd has no viewers: every client of it can type",
  });
  const page = await fetch(`${system.origin}/terminal/${who.project}?role=viewer`, bearer(who));
  expect([page.status, await page.json()]).toMatchObject([403, { error: "no_viewers" }]);
  for (const role of ["viewer", "driver"]) {
    const made = await fetch(`${system.origin}/api/tickets`, {
      ...bearer(who),
      method: "POST",
      body: JSON.stringify({ sandbox: who.project, session: "main", role }),
    });
    const { ticket } = (await made.json()) as { ticket: string };
    const client = await TtydClient.connect(`${address(who.project)}?ticket=${ticket}&role=viewer`);
    expect((await client.end()).code).toBe(4403);
  }
  expect(ttyd.to(who.key)).toEqual([]);
});

function bearer({ token }: Owner): RequestInit {
  return { headers: { Authorization: `Bearer ${token}` }, redirect: "manual" };
}
