// H22 over a real bridge: a connection on which an attach is asked for later.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_PRECONNECTS } from "sandbox-stdio/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Preconnects } from "../src/preconnects.ts";
import { Registry } from "../src/registry.ts";
import { type Bridge, startBridge } from "../src/server.ts";
import { type BridgeSettings, readSettings } from "../src/settings.ts";
import { type SocketData, websocket } from "../src/sockets.ts";

const TOKEN = "a secret of this test only";
const headers = { Authorization: `Bearer ${TOKEN}` };
const INNER = "stdio.inner.v1";

let bridge: Bridge;
let root = "";
let settings: BridgeSettings;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-preconnects-"));
  const read = readSettings({ HOST: "127.0.0.1", PORT: "0", SANDBOX_ROOT: root }, TOKEN);
  if (!read.ok) throw new Error(read.problem);
  settings = read.settings;
  bridge = startBridge(settings);
});

afterEach(async () => {
  await bridge.stop();
  rmSync(root, { recursive: true, force: true });
});

/** A session object's end of such a connection; the first thing that comes on it, which may be its end. */
async function preconnect(url = bridge.url, sandbox = "box") {
  const socket = new WebSocket(`${url.replace("http", "ws")}/preconnect?sandbox=${sandbox}`, {
    protocols: [INNER],
    headers,
  });
  const first = new Promise<string>((resolve) => {
    socket.addEventListener("message", ({ data }) => resolve(String(data)));
    socket.addEventListener("close", ({ code }) => resolve(`closed ${code}`));
  });
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  await new Promise<void>((resolve) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("close", () => resolve());
  });
  const begin = (query: Record<string, string>) =>
    socket.send(JSON.stringify({ type: "begin", query: new URLSearchParams(query).toString() }));
  return { socket, first, closed, begin };
}

/** The answer to an upgrade that is refused. */
function refusal(path: string): Promise<Response> {
  const upgrade = { Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Protocol": INNER };
  const key = { "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==" };
  return fetch(`${bridge.url}${path}`, { headers: { ...headers, ...upgrade, ...key } });
}

type Session = { readonly session: string; readonly incarnation: string; readonly held: boolean };

async function sessions(sandbox = "box"): Promise<Session[]> {
  const response = await fetch(`${bridge.url}/sessions?sandbox=${sandbox}`, { headers });
  return ((await response.json()) as { sessions: Session[] }).sessions;
}

test("H22: nothing runs and nothing is said until an attach is asked for", async () => {
  const { begin, first, socket } = await preconnect();
  expect(await sessions()).toEqual([]);
  begin({ session: "s", cmd: "cat", label: "box" });
  expect(JSON.parse(await first)).toMatchObject({ type: "hello", cmd: ["cat"], offset: 0 });
  expect(await sessions()).toMatchObject([{ session: "s", held: true }]);
  socket.close();
});

test("H22: it counts for the sandbox that it was opened for, whatever is asked on it", async () => {
  const { begin, first } = await preconnect();
  begin({ session: "s", cmd: "cat", sandbox: "another" });
  expect(JSON.parse(await first)).toMatchObject({ type: "hello" });
  expect(await sessions("another")).toEqual([]);
  expect(await sessions()).toHaveLength(1);
});

test.each([
  ["a process that is not here any more", { session: "s", incarnation: "gone" }, 404, "not_found"],
  ["a command that there is not", { session: "s", cmd: "/no/such" }, 422, "cmd_not_found"],
  ["a long command that there is not", { session: "s", cmd: `/${"x".repeat(4_500)}` }, 422, "cmd_not_found"],
  ["a query that can't be read", { session: "s", cols: "0", rows: "1" }, 400, "bad_request"],
])("H22: %s is refused as over HTTP, and the connection ends", async (_, query, status, error) => {
  const response = await refusal(`/attach?${new URLSearchParams({ sandbox: "box", ...query })}`);
  const answer = (await response.json()) as { error: string; message: string };
  expect([response.status, answer.error]).toEqual([status, error]);

  const { begin, first, closed } = await preconnect();
  begin(query);
  expect(JSON.parse(await first)).toEqual({ type: "refused", status, ...answer });
  expect(await closed).toBe(1000);
  expect(await sessions()).toEqual([]);
});

test("H22: an offset beyond the log is refused", async () => {
  const one = await preconnect();
  one.begin({ session: "s", cmd: "cat" });
  const { incarnation } = JSON.parse(await one.first) as { incarnation: string };
  const other = await preconnect();
  other.begin({ session: "s", incarnation, offset: "1" });
  expect(JSON.parse(await other.first)).toMatchObject({ type: "refused", status: 400, error: "bad_request" });
});

test("H22: what asks for nothing that can be read is told so, and ends", async () => {
  for (const frame of ["{}", "no JSON", '{"type":"begin","query":1}', '{"type":"attach"}', new Uint8Array(20)]) {
    const { socket, first } = await preconnect();
    socket.send(frame);
    expect(await first).toBe("closed 1008");
  }
  expect(await sessions()).toEqual([]);
});

test("H22: without the secret, or another protocol, there is none", async () => {
  const asked = (more: Record<string, string>) => fetch(`${bridge.url}/preconnect?sandbox=box`, { headers: more });
  expect((await asked({})).status).toBe(401);
  expect((await asked(headers)).status).toBe(400);
  expect((await asked({ ...headers, "Sec-WebSocket-Protocol": "stdio.v1" })).status).toBe(400);
  // No upgrade at all.
  expect((await asked({ ...headers, "Sec-WebSocket-Protocol": INNER })).status).toBe(400);
});

test("H22: there are so many at most, and each that is used makes room", async () => {
  const all = await Promise.all(Array.from({ length: MAX_PRECONNECTS }, () => preconnect()));
  expect((await refusal("/preconnect?sandbox=box")).status).toBe(503);
  all[0]?.begin({ session: "s", cmd: "cat" });
  await all[0]?.first;
  const next = await preconnect();
  next.begin({ session: "s" });
  expect(JSON.parse(await next.first)).toMatchObject({ type: "hello" });
  for (const { socket } of all) socket.close();
});

test("H22: one on which nothing is asked is closed after a while, and one that is used is not", async () => {
  const registry = new Registry(settings);
  const preconnects = new Preconnects(settings, registry, 300);
  const server = Bun.serve<SocketData>({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, self) => preconnects.upgrade(request, "box", self),
    websocket,
  });
  const used = await preconnect(server.url.origin);
  used.begin({ session: "s", cmd: "cat" });
  await used.first;
  const unused = await preconnect(server.url.origin);
  expect(await unused.closed).toBe(1000);
  expect(used.socket.readyState).toBe(WebSocket.OPEN);
  for (const host of registry.hosts) await host.kill();
  await server.stop(true);
});

test("H22: a bridge that stops closes them, and starts nothing for what is asked on them then", async () => {
  const { begin, first } = await preconnect();
  const stopped = bridge.stop();
  begin({ session: "s", cmd: "cat" });
  expect(await first).toBe("closed 1001");
  await stopped;
});
