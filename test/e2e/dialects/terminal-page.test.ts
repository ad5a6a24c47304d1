// What the terminal proxy does beyond its seed: the ttyd's own page, tickets for it, roles, revocation, idle ends and floods.

import { expect, test } from "vitest";
import { TtydClient } from "../support/clients/ttyd-client.ts";
import { TTYD_PAGE } from "../support/servers/ttyd-server.ts";
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

test("nothing of the client's request reaches the sandbox", async () => {
  const who = await owner();
  const headers = { Cookie: "a=b", "X-Forwarded-For": "1.2.3.4", "X-Secret": "s", Origin: system.origin };
  await TtydClient.connect(`${address(who.project, who.token)}&arg=x`, { headers });
  const terminal = await ttyd.connection(who.key);
  const text = JSON.stringify(terminal.headers);
  for (const secret of [who.token, "a=b", "1.2.3.4", "x-secret", who.sub]) expect(text).not.toContain(secret);
  expect(terminal.headers["sec-websocket-protocol"]).toBe("tty");
});

test("a token that may only look on does not reach a ttyd, which knows no roles", async () => {
  const who = await owner();
  const token = await system.mintToken({ sub: who.sub, scope: "sandbox:connect" });
  projects.owns(token, who.project, who.user);
  const client = await connect({ ...who, token });
  expect((await client.end()).code).toBe(4403);
  expect(ttyd.to(who.key)).toEqual([]);
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
    reason: "A ttyd lets nobody only look on",
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

test("a connection ends with its token", async () => {
  const who = await owner();
  const token = await system.mintToken({ sub: who.sub, expires: 2 });
  projects.owns(token, who.project, who.user);
  const client = await connect({ ...who, token });
  const terminal = await ttyd.connection(who.key);
  expect(await client.end()).toEqual({ code: 4401, reason: "Unauthorized" });
  expect(await until("its ttyd to hear of it", () => terminal.closed)).toEqual({
    code: 4401,
    reason: "Unauthorized",
  });
});

test.each([
  ["an error", 500, "{}"],
  ["no user", 200, "{}"],
  ["no JSON", 200, "welcome"],
])("a Project Service that answers with %s lets nobody in", async (_name, status, body) => {
  const who = await owner();
  projects.fault = { status, body };
  const client = await connect(who);
  expect((await client.end()).code).toBe(4503);
  expect(ttyd.to(who.key)).toEqual([]);
});

test("a flood is paused by ttyd's own words until the client may have more, and loses nothing", async () => {
  const who = await owner();
  const total = 24 * 1024 * 1024;
  const [client, terminal] = await connected(who);
  const chunk = Buffer.alloc(64 * 1024, "x");
  chunk[0] = 0x30;
  let sent = 0;
  let isPaused = false;
  const pump = () => {
    while (!isPaused && sent < total && terminal.socket.bufferedAmount < 1024 * 1024) {
      terminal.socket.send(chunk);
      sent += chunk.length - 1;
    }
    if (!isPaused && sent < total) setImmediate(pump);
  };
  terminal.socket.on("message", (message: Buffer) => {
    if (message[0] === 0x32) isPaused = true;
    if (message[0] === 0x33) {
      isPaused = false;
      pump();
    }
  });
  const from = performance.now();
  pump();
  await until("all of it", () => client.received.length === Math.ceil(total / (chunk.length - 1)));
  console.log(`24 MiB through the proxy: ${Math.round(performance.now() - from)} ms`);
  expect(client.output().length).toBe(sent);
  expect(terminal.said("2").length).toBeGreaterThan(0);
});

function bearer({ token }: Owner): RequestInit {
  return { headers: { Authorization: `Bearer ${token}` }, redirect: "manual" };
}
