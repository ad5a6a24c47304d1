// Every port that the running system listens on, and what it says to a page, to a name that was pointed at it, and to whoever
// comes with nothing. A port that is not in the table below fails.

import { readFileSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, inject, onTestFinished, test } from "vitest";
import { loginCookie } from "../support/clients/login.ts";
import { listeningPorts } from "../support/system/ports.ts";
import { person, pids, system } from "../support/system/system.ts";

const LOOPBACK = "0100007F";
const WORKER = Number(new URL(system.origin).port);
const BRIDGE = Number(new URL(system.bridgeUrl).port);
const ISSUER = Number(new URL(system.issuerUrl).port);
const EVIL = "http://evil.example";
const HEALTHY = JSON.stringify({ ok: true });
const UPGRADE = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
};
/** What inspectors, debuggers and wrangler's own routes answer to; and ours. */
const PATHS = [
  ...["/", "/json", "/json/list", "/json/version", "/ws", "/core:user:sbx-stdio", "/core:entry", "/api/me", "/attach"],
  ...["/core/log", "/cdn-cgi/local/explorer", "/cdn-cgi/local/explorer/api", "/cdn-cgi/local/platform-proxy"],
  ...["/cdn-cgi/local/scheduled", "/cdn-cgi/local/email", "/cdn-cgi/local/r2/s3", "/cdn-cgi/mf/scheduled"],
  ...["/cdn-cgi/ProxyWorker/pause", "/cdn-cgi/InspectorProxyWorker/websocket"],
];

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A WebSocket that was let in has status 101. The body is not waited for: of a refused upgrade it may never end. */
const statusOf = async (port: number, path: string, headers: Record<string, string> = {}, method = "GET") =>
  (await ask(port, path, headers, method, false)).status;

function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
  readsBody = true,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({
      host: "127.0.0.1",
      port,
      path,
      method,
      headers: { Host: `localhost:${port}`, ...headers },
    });
    asked.once("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: response.headers, body: "" });
    });
    asked.once("response", (response) => {
      const answer = (body: string) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      if (readsBody) return void text(response).then(answer, reject);
      response.destroy();
      answer("");
    });
    asked.once("error", reject);
    asked.end();
  });
}

test("the Worker's and the bridge's: on loopback alone, and no others", async () => {
  const { worker, bridge } = await pids();
  expect(listeningPorts([worker])).toEqual([{ address: LOOPBACK, port: WORKER, owner: "workerd" }]);
  expect(listeningPorts([bridge])).toEqual([
    { address: LOOPBACK, port: expect.any(Number), owner: expect.stringMatching(/^bun/) },
  ]);
});

test.each<[string, Record<string, string>]>([
  ["alone", {}],
  ["beside MF-Original-URL", { "MF-Original-URL": `http://localhost:${WORKER}/api/me` }],
  ["beside X-Forwarded-*", { "X-Forwarded-Host": `localhost:${WORKER}`, "X-Forwarded-Proto": "http" }],
  ["beside MF-Route-Override", { "MF-Route-Override": "sbx-stdio", "MF-Original-Hostname": "localhost" }],
])("the Worker refuses a foreign Host on every path, %s", async (_, headers) => {
  const { token } = await person();
  for (const path of PATHS) {
    const shown = { Host: `evil.example:${WORKER}`, Authorization: `Bearer ${token}`, ...headers };
    expect([path, await statusOf(WORKER, path, shown)]).toEqual([path, expect.toBeOneOf([401, 403, 404])]);
    expect([path, await statusOf(WORKER, path, { ...shown, ...UPGRADE })]).toEqual([
      path,
      expect.toBeOneOf([401, 403, 404]),
    ]);
  }
  const { status, body } = await ask(WORKER, "/api/me", { ...headers, Host: `evil.example:${WORKER}` });
  expect([status, JSON.parse(body).error]).toEqual([403, "bad_host"]);
});

test("the Worker's WebSockets let in nobody of a foreign Origin, and nobody with nothing", async () => {
  for (const path of PATHS) {
    for (const headers of [{}, { Origin: EVIL }]) {
      expect([path, await statusOf(WORKER, path, { ...UPGRADE, ...headers })]).not.toEqual([path, 101]);
    }
    const { headers } = await ask(WORKER, path, { Origin: EVIL });
    expect([path, headers["access-control-allow-origin"]]).toEqual([path, undefined]);
  }
});

test("wrangler's own routes are not there: what answers below /cdn-cgi/ is our 404", async () => {
  for (const path of PATHS.filter((one) => one.startsWith("/cdn-cgi/"))) {
    for (const headers of [{}, { Origin: "http://localhost:3000" }]) {
      const { status, body } = await ask(WORKER, path, headers);
      expect([path, status, JSON.parse(body).error]).toEqual([path, 404, "not_found"]);
    }
  }
});

test("a page on https://localhost is no page of ours, which is on http", async () => {
  const cookie = await loginCookie("carol", "org");
  const attach = (origin: string) =>
    ask(WORKER, "/attach?cmd=cat", {
      ...UPGRADE,
      Cookie: cookie,
      Origin: origin,
      "Sec-WebSocket-Protocol": "stdio.v1",
    });
  const { status, body } = await attach(system.origin.replace("http:", "https:"));
  expect([status, body && JSON.parse(body).error]).toEqual([403, "bad_origin"]);
  expect((await attach(system.origin)).status).toBe(101);
});

test("the bridge's port says only that it is there, to whoever comes with nothing and to every page", async () => {
  for (const path of ["/", "/healthz"]) {
    const { status, headers, body } = await ask(BRIDGE, path, { Origin: EVIL, Host: "evil.example" });
    expect([path, status, headers["access-control-allow-origin"], body]).toEqual([path, 200, undefined, HEALTHY]);
  }
  for (const path of PATHS.filter((one) => one !== "/")) {
    expect([path, await statusOf(BRIDGE, path, { Origin: EVIL })]).toEqual([path, 403]);
    for (const headers of [{}, UPGRADE, { Host: "evil.example" }]) {
      expect([path, await statusOf(BRIDGE, path, headers)]).toEqual([path, 401]);
    }
  }
});

test("the issuer's port answers under its own name alone, and to no page's form but its own", async () => {
  for (const path of ["/", "/authorize", "/device", "/token", "/.well-known/openid-configuration", "/json"]) {
    expect([path, await statusOf(ISSUER, path, { Host: "evil.example" })]).toEqual([path, 403]);
    expect([path, await statusOf(ISSUER, path, { Origin: EVIL }, "POST")]).toEqual([
      path,
      expect.toBeOneOf([403, 404]),
    ]);
    expect([path, await statusOf(ISSUER, path, UPGRADE)]).not.toEqual([path, 101]);
  }
});

test("the page is that of the start: a build beside a running system takes no file from under it", async () => {
  const icon = join(inject("parts") ?? "", "worker/page/icon.svg");
  const before = readFileSync(icon, "utf8");
  onTestFinished(() => writeFileSync(icon, before));
  writeFileSync(icon, `${before}<!-- its own -->`);
  expect((await ask(WORKER, "/icon.svg", {}, "GET", true)).body).toBe(`${before}<!-- its own -->`);
});
