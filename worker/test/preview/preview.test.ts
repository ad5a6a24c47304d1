// The hosts of previews, and what opens one: without a server behind them.

import { MIB, PREVIEW_LEAD, PREVIEW_PREFIX, PREVIEW_STATUS } from "sandbox-stdio/core";
import { afterEach, expect, test, vi } from "vitest";
import type { Identity } from "../../src/auth/identity.ts";
import { useAuthentication } from "../../src/auth/provider.ts";
import { identifiedBefore } from "../../src/guards/identify.ts";
import { admit, type GateEnv } from "../../src/preview/gate.ts";
import {
  labelOf,
  openPreviewTicket,
  type PreviewPass,
  passCookie,
  passCookieName,
  sealPreviewTicket,
} from "../../src/preview/pass.ts";
import { type PortEnv, portRefusal } from "../../src/preview/ports.ts";
import { joinSockets, type ProxyEnv, passOn } from "../../src/preview/proxy.ts";
import { parsePreviewHost, requestedLabel } from "../../src/preview/settings.ts";
import { AuthFault } from "../../src/refusal/fault.ts";
import { previewRoutes } from "../../src/routes/previews.ts";
import { UnacknowledgedPool } from "../../src/sockets/unacknowledged.ts";

const SETTINGS = {
  tenantIssuer: "https://id.example",
  publicOrigin: "https://sbx.example",
  linkBase: "https://sbx.example",
  sessionSecret: "s".repeat(32),
  allowedHosts: new Set(["sbx.example", `${"a".repeat(40)}.own.example`]),
  allowedOrigins: new Set<string>(),
  authorizationServers: [],
};
const PASS: PreviewPass = {
  tenant: { issuer: "https://id.example", tenantClaim: "sub", tenantValue: "alice" },
  sandbox: "dev",
  port: 5173,
  id: "id",
  subject: "alice",
  isAdmin: false,
  grant: { persons: [{ subject: "alice" }], tokenIds: [] },
  expiresAtMs: Date.now() + 1_000_000,
};
const previews = parsePreviewHost("*.preview.example", SETTINGS);
const LABEL = labelOf(PASS);

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  "preview.example",
  "*.",
  "*.preview.example/x",
  "*.user@preview.example",
  "*.*",
  "*.1.2.3.4",
  "*.own.example",
])("%j is no host for previews", (value) => {
  expect(() => parsePreviewHost(value, SETTINGS)).toThrow(AuthFault);
});

test("on http, previews are below localhost alone", () => {
  const local = { publicOrigin: "http://localhost:8787", allowedHosts: new Set(["localhost:8787"]) };
  expect(parsePreviewHost("*.localhost:8787", local).originOf("x")).toBe("http://x.localhost:8787");
  expect(() => parsePreviewHost("*.preview.example", local)).toThrow("below localhost");
});

test("a host is a preview's only as a whole, and where both its names are the same", () => {
  const asked = (host: string, header = host) =>
    requestedLabel(new Request(`https://${host}/`, { headers: { Host: header } }), previews);
  expect(asked(`${LABEL}.preview.example`)).toBe(LABEL);
  for (const host of [
    "sbx.example",
    "preview.example",
    `x.${LABEL}.preview.example`,
    `${LABEL}.preview.example.evil.example`,
  ]) {
    expect([host, asked(host)]).toEqual([host, undefined]);
  }
  expect(asked(`${LABEL}.preview.example`, "sbx.example")).toBeUndefined();
  expect(asked(`${LABEL}.preview.example:8443`)).toBeUndefined();
});

test("a ticket ends after 60 s", async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
  const ticket = await sealPreviewTicket(PASS, "/x", SETTINGS);
  vi.setSystemTime(Date.now() + 59_999);
  expect((await openPreviewTicket(ticket, LABEL, SETTINGS)).path).toBe("/x");
  vi.setSystemTime(Date.now() + 1);
  await expect(openPreviewTicket(ticket, LABEL, SETTINGS)).rejects.toMatchObject({ code: "ticket_expired" });
});

test("a pass opens its own preview alone, and one that has ended only says where to get another", async () => {
  const origin = previews.originOf(LABEL);
  const noEnv = {} as GateEnv; // Nothing may be asked.
  const ended = await passCookie({ ...PASS, expiresAtMs: Date.now() - 1 }, SETTINGS);
  expect(ended).toMatch(/^__Host-sbx_preview=v\.[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
  const request = new Request(`${origin}/`, { headers: { Cookie: ended.split(";")[0] ?? "" } });
  expect(await admit(request, noEnv, SETTINGS, LABEL, origin)).toMatchObject({ kind: "ended", pass: { port: 5173 } });
  const other = labelOf({ ...PASS, port: 5174 });
  await expect(admit(request, noEnv, SETTINGS, other, previews.originOf(other))).rejects.toMatchObject({
    code: "no_token",
  });
});

test("no container is started for a preview", async () => {
  const calls: string[] = [];
  const isRunning = () => {
    calls.push("isRunning");
    return false;
  };
  const env = { Sandbox: { getByName: () => ({ isRunning }) } } as unknown as ProxyEnv; // All that may be asked of it.
  const ends = { origin: previews.originOf(LABEL), port: 5173, cookie: passCookieName(SETTINGS) };
  const asked = { request: new Request(`${ends.origin}/`), pass: PASS, sandboxKey: "key", ends };
  const answer = await passOn(asked, env);
  expect([answer.status, await answer.json(), calls]).toMatchObject([503, { error: "asleep" }, ["isRunning"]]);
});

test("a browser has at most 256 requests open, those counted that still ask whether the sandbox is awake", async () => {
  let tell: (isRunning: boolean) => void = () => undefined;
  const answered = new Promise<boolean>((resolve) => {
    tell = resolve;
  });
  const env = { Sandbox: { getByName: () => ({ isRunning: () => answered }) } } as unknown as ProxyEnv;
  const ends = { origin: previews.originOf(LABEL), port: 5173, cookie: passCookieName(SETTINGS) };
  const ask = () =>
    passOn({ request: new Request(`${ends.origin}/`), pass: { ...PASS, id: "many" }, sandboxKey: "key", ends }, env);
  const first = Array.from({ length: 256 }, ask);
  expect((await ask()).status).toBe(429);
  tell(false);
  expect(new Set((await Promise.all(first)).map(({ status }) => status))).toEqual(new Set([503]));
  expect((await ask()).status).toBe(503);
});

test("a request whose browser goes keeps no place: the runtime ends it then, and nothing of it runs any more", async () => {
  const never = new Promise<boolean>(() => undefined);
  const env = { Sandbox: { getByName: () => ({ isRunning: () => never }) } } as unknown as ProxyEnv;
  const ends = { origin: previews.originOf(LABEL), port: 5173, cookie: passCookieName(SETTINGS) };
  const browser = new AbortController();
  const pass = { ...PASS, id: "gone" };
  const ask = (request: Request) => passOn({ request, pass, sandboxKey: "key", ends }, env);
  for (let i = 0; i < 256; i += 1) void ask(new Request(`${ends.origin}/`, { signal: browser.signal }));
  expect((await ask(new Request(`${ends.origin}/`))).status).toBe(429);
  browser.abort();
  const tell = { Sandbox: { getByName: () => ({ isRunning: async () => false }) } } as unknown as ProxyEnv;
  const next = await passOn({ request: new Request(`${ends.origin}/`), pass, sandboxKey: "key", ends }, tell);
  expect(next.status).toBe(503);
});

const broken = () =>
  new ReadableStream({
    type: "bytes",
    start: (controller) => controller.enqueue(new Uint8Array(10)),
    pull: (controller) => controller.error(new Error("broken off")),
  });
const led = { [PREVIEW_STATUS]: "200", [PREVIEW_LEAD]: "1" };

test.each<[string, () => Response, number]>([
  ["fails", () => Promise.reject(new Error("no way")) as unknown as Response, 503],
  ["is a refusal", () => Response.json({ error: "connection_refused" }, { status: 422 }), 502],
  ["has no beginning", () => new Response("", { headers: led }), 503],
  [
    "has a length that is none",
    () => new Response("x", { headers: { ...led, "x-preview-content-length": "1e999" } }),
    503,
  ],
  ["breaks off", () => new Response(broken(), { headers: { ...led, "x-preview-content-length": "100" } }), 200],
  ["is shorter than it says", () => new Response("x12", { headers: { ...led, "x-preview-content-length": "9" } }), 200],
  ["is longer than it says", () => new Response("x12", { headers: { ...led, "x-preview-content-length": "1" } }), 200],
  ["has no body", () => new Response("x", { headers: { ...led, [PREVIEW_STATUS]: "204" } }), 204],
])("an answer that %s keeps no place", async (kind, answer, status) => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async () => answer());
  try {
    const ends = { origin: previews.originOf(LABEL), port: 5173, cookie: passCookieName(SETTINGS) };
    const env = { BRIDGE_URL: "http://127.0.0.1:9", STDIO_TOKEN: "s".repeat(32) } as unknown as ProxyEnv;
    const pass = { ...PASS, id: kind };
    const statuses = new Set<number>();
    for (let i = 0; i < 300; i += 1) {
      const got = await passOn({ request: new Request(`${ends.origin}/`), pass, sandboxKey: "key", ends }, env);
      statuses.add(got.status);
      await got.text().catch(() => undefined);
    }
    expect([...statuses]).toEqual([status]);
  } finally {
    asked.mockRestore();
  }
});

test("a body of 100 MiB that does not say how long it is ends with 413", async () => {
  const drink = async (_url: unknown, init?: RequestInit) => new Response(await new Response(init?.body).arrayBuffer());
  const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(drink as typeof fetch);
  try {
    let left = 101;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        left -= 1;
        if (left < 0) controller.close();
        else controller.enqueue(new Uint8Array(MIB));
      },
    });
    const ends = { origin: previews.originOf(LABEL), port: 5173, cookie: passCookieName(SETTINGS) };
    const request = new Request(`${ends.origin}/`, { method: "POST", body });
    const env = { BRIDGE_URL: "http://127.0.0.1:9", STDIO_TOKEN: "s".repeat(32) } as unknown as ProxyEnv;
    const answer = await passOn({ request, pass: PASS, sandboxKey: "key", ends }, env);
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: "too_long" }]);
  } finally {
    fetched.mockRestore();
  }
});

test.each([
  ["GET", 304, "x", null],
  ["GET", 204, "x", null],
  ["HEAD", 200, "x", null],
  ["GET", 404, "x", ""],
  ["GET", 200, "xtheirs", "theirs"],
] as const)("to %s with %i, the byte of the bridge's own is dropped", async (method, status, said, got) => {
  const headers = { [PREVIEW_STATUS]: String(status), [PREVIEW_LEAD]: "1", [`${PREVIEW_PREFIX}etag`]: "e" };
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response(said, { headers }));
  try {
    const ends = { origin: previews.originOf(LABEL), port: 5173, cookie: passCookieName(SETTINGS) };
    const request = new Request(`${ends.origin}/`, { method });
    const env = { BRIDGE_URL: "http://127.0.0.1:9", STDIO_TOKEN: "s".repeat(32) } as unknown as ProxyEnv;
    const answer = await passOn({ request, pass: PASS, sandboxKey: "key", ends }, env);
    expect([answer.status, answer.body === null ? null : await answer.text()]).toEqual([status, got]);
    expect([...answer.headers.keys()].sort()).toEqual(expect.not.arrayContaining([PREVIEW_LEAD]));
    // A bridge of an older image does not know of it, and sends none.
    expect(new URL(String(asked.mock.calls[0]?.[0])).searchParams.get(PREVIEW_LEAD)).toBe("1");
    asked.mockImplementation(async () => new Response("theirs", { headers: { [PREVIEW_STATUS]: "200" } }));
    expect(
      await (await passOn({ request: new Request(request.url), pass: PASS, sandboxKey: "key", ends }, env)).text(),
    ).toBe("theirs");
  } finally {
    asked.mockRestore();
  }
});

test("a WebSocket whose browser is not known to read is closed after so many bytes, if the runtime tells no queue", async () => {
  const pair = new WebSocketPair();
  const done = vi.fn();
  const { webSocket } = joinSockets(
    // As a bridge's answer: an upgrade.
    new Response(null, { status: 101, webSocket: pair[0] }),
    () => () => undefined,
    done,
    new UnacknowledgedPool(MIB),
  );
  const [server, browser] = [pair[1], webSocket];
  if (browser === null) throw new Error("there is no WebSocket");
  server.accept();
  browser.accept();
  let got = 0;
  const closed = new Promise<number>((resolve) => browser.addEventListener("close", ({ code }) => resolve(code)));
  const heard = new Promise<void>((resolve) => server.addEventListener("message", () => resolve()));
  browser.addEventListener("message", ({ data }) => {
    got += (data as ArrayBuffer).byteLength;
    if (got === MIB) browser.send("I read");
  });
  server.send(new Uint8Array(MIB));
  await heard;
  // Its own MiB, and one of the pool.
  for (let i = 0; i < 4; i += 1) server.send(new Uint8Array(MIB));
  expect(await closed).toBe(1008);
  expect([got / MIB, done.mock.calls.length]).toEqual([3, 1]);
});

test.each<[number, PortEnv, string | undefined]>([
  [5173, {}, undefined],
  [8080, {}, "port_forbidden"],
  [3000, {}, "port_forbidden"],
  [3000, { BRIDGE_URL: "http://127.0.0.1:9000" }, undefined],
  [9000, { BRIDGE_URL: "http://127.0.0.1:9000" }, "port_forbidden"],
  [80, { BRIDGE_URL: "http://bridge", BRIDGE: {} as Fetcher }, undefined],
  [5173, { COMMAND_ALLOW: "bash" }, "cmd_forbidden"],
  [5173, { COMMAND_ALLOW: "bash,tcp:5173" }, undefined],
  [5173, { COMMAND_BLOCK: "tcp:*" }, "cmd_forbidden"],
])("port %i is shown, or not, by %j", (port, env, error) => {
  expect(portRefusal(env, port, false)?.error).toBe(error);
});

test("where no host is set up, the way there says how the port is reached instead", async () => {
  const never = () => Promise.reject(new Error("nobody is asked"));
  useAuthentication({ settings: () => SETTINGS, authenticate: never, verify: never });
  const { tenant, subject } = PASS;
  const scopes = new Set(["sandbox:connect", "sandbox:exec"]);
  const identity: Identity = { ...tenant, subject, scopes, expiresAt: Date.now() / 1000 + 60 };
  const request = new Request("https://sbx.example/preview/dev/5173/x");
  identifiedBefore(request, { identity, source: "cookie", token: "t" });
  const answer = await previewRoutes.fetch(request, {});
  const instead = expect.stringContaining("sbx-stdio forward https://sbx.example --sandbox dev 5173");
  expect([answer.status, await answer.json()]).toEqual([404, { error: "no_previews", message: instead }]);
});
