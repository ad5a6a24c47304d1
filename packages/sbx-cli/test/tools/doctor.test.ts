// `doctor`: a fault of each step is found at that step, told in words, and with what to do.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { selfSigned } from "../fixture/certificate.ts";
import { cleanEnv, runCli, scratch } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";

/** What the server says to each path, where it is not well. */
type Answers = Readonly<Record<string, readonly [status: number, body: unknown, headers?: Record<string, string>]>>;
type Way = { readonly answers?: Answers; readonly takesSockets?: boolean; readonly endsAt?: Date };

const METADATA = "/.well-known/oauth-protected-resource";
const SESSIONS = "/api/sandboxes/default/sessions";
const NEXT_YEAR = new Date(Date.now() + 365 * 86_400_000);

async function serve({ answers = {}, takesSockets = true, endsAt }: Way) {
  const certificate = endsAt === undefined ? undefined : selfSigned(endsAt);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const url = `${certificate === undefined ? "http" : "https"}://${request.headers.host}`;
    const usual: Answers = {
      "/healthz": [200, { ok: true }],
      [METADATA]: [200, { resource: `${url}/mcp` }],
      [SESSIONS]: [200, { sessions: [] }],
      "/api/me": [200, { scopes: ["sandbox:exec"] }],
    };
    const path = (request.url ?? "").replace(/\?.*/, "");
    const [status, body, headers] = { ...usual, ...answers }[path] ?? [404, { error: "not_found", message: "none" }];
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  const server = certificate === undefined ? createServer(answer) : createTlsServer({ ...certificate }, answer);
  if (takesSockets) new WebSocketServer({ server, handleProtocols: () => "stdio.v1" });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${certificate === undefined ? "http" : "https"}://127.0.0.1:${port}`, port, certificate };
}

type Told = { ok: boolean; steps: { name: string; state: string; text: string; advice?: string }[] };

async function doctor(url: string, env = cleanEnv(), run = runHere) {
  const { code, stdout } = await run(["doctor", url, "--json"], "", env);
  const told = JSON.parse(stdout) as Told;
  expect([code, told.ok]).toEqual(told.ok ? [0, true] : [255, false]);
  return { ...told, last: told.steps.at(-1), names: told.steps.map(({ name }) => name) };
}

const ALL = ["URL", "DNS", "TLS", "server", "clock", "token", "origin", "access", "commands", "WebSocket", "container"];

test("every step is tried in its order, and what was not is no fault", async () => {
  const { url } = await serve({});
  const { names, ok, steps } = await doctor(url);
  expect([names, ok]).toEqual([ALL, true]);
  expect(steps[0]?.text).toBe(`${url.replace("http", "ws")}/attach, sandbox default`);
  const open = steps.filter(({ state }) => state !== "ok").map(({ name }) => name);
  expect(open).toEqual(["TLS", "container"]);
});

test("over TLS it says until when the certificate is good", async () => {
  const { url, certificate } = await serve({ endsAt: NEXT_YEAR });
  const file = join(scratch(), "trusted.pem");
  writeFileSync(file, certificate?.cert ?? "");
  const { ok, steps } = await doctor(url, cleanEnv({ NODE_EXTRA_CA_CERTS: file }), runCli);
  expect(ok).toBe(true);
  expect(steps[2]).toMatchObject({
    name: "TLS",
    state: "ok",
    text: expect.stringMatching(/^TLSv1\.[23]; .+ valid until /),
  });
});

test.each<[string, string, Way, RegExp, RegExp]>([
  ["TLS", "a certificate that nobody trusts", { endsAt: NEXT_YEAR }, /^its certificate is not trusted/, /address/],
  [
    "server",
    "another server",
    { answers: { "/healthz": [404, "none"] } },
    /^\/healthz returned HTTP 404: is this the right server\?$/,
    /address/,
  ],
  [
    "server",
    "an address that leads elsewhere",
    { answers: { "/healthz": [301, "", { Location: "https://other.test/x" }] } },
    /^redirected to https:\/\/other\.test: use that address$/,
    /address/,
  ],
  [
    "server",
    "a server that is not set up",
    { answers: { "/healthz": [500, { error: "misconfigured", message: "PUBLIC_ORIGIN is missing" }] } },
    /^PUBLIC_ORIGIN is missing$/,
    /^the reason comes from the server/,
  ],
  [
    "clock",
    "a clock that is wrong",
    { answers: { "/healthz": [200, {}, { Date: new Date(Date.now() - 3_600_000).toUTCString() }] } },
    /differs from the server's by 3[56]\d\d s/,
    /clock/,
  ],
  [
    "origin",
    "a name under which the server does not answer",
    {
      answers: {
        "/healthz": [403, { error: "bad_host", message: "not under that name" }],
        [METADATA]: [403, { error: "bad_host", message: "not under that name" }],
      },
    },
    /^not under that name$/,
    /PUBLIC_ORIGIN and ALLOWED_HOSTS/,
  ],
  [
    "access",
    "a token that is refused",
    { answers: { [SESSIONS]: [401, { error: "bad_token", message: "the token has expired" }] } },
    /^the token has expired$/,
    /^log in again/,
  ],
  [
    "access",
    "another server that speaks JSON, as an issuer does",
    { answers: { [METADATA]: [404, { error: "invalid_request" }], [SESSIONS]: [404, { error: "invalid_request" }] } },
    /^invalid_request$/,
    /^check the address and port: another program may be listening there \(HTTP 404\)/,
  ],
  [
    "access",
    "a server that can't answer now",
    { answers: { [SESSIONS]: [503, { error: "unavailable", message: "come back later" }] } },
    /^come back later$/,
    /^the reason comes from the server/,
  ],
  ["server", "a server of pages", { answers: { "/healthz": [200, "a page"] } }, /not an sbx-stdio server/, /port/],
  [
    "access",
    "one that has a page for all",
    { answers: { [SESSIONS]: [200, "a page"] } },
    /not an sbx-stdio server/,
    /port/,
  ],
  ["WebSocket", "no WebSockets", { takesSockets: false }, /404|hang up|closed/, /WebSockets/],
])("%s: %s", async (step, _what, way, text, advice) => {
  const { last } = await doctor((await serve(way)).url);
  expect(last).toMatchObject({ name: step, state: "failed" });
  expect(last?.text).toMatch(text);
  expect(last?.advice).toMatch(advice);
});

test("DNS, TLS and token: a name that is none, a server that speaks no TLS, no token", async () => {
  // No resolver is asked: a part of a name has 63 characters at most.
  const { last: nowhere } = await doctor(`http://${"a".repeat(64)}.test`);
  expect(nowhere).toMatchObject({ name: "DNS", state: "failed", advice: expect.stringContaining("DNS") });
  const { port } = await serve({});
  const { last: plain } = await doctor(`https://127.0.0.1:${port}`);
  expect(plain).toMatchObject({ name: "TLS", text: expect.stringContaining("does not speak TLS") });
  const { last: bare } = await doctor(`http://127.0.0.1:${port}`, cleanEnv({ SBX_TOKEN: "" }));
  expect(bare).toMatchObject({ name: "token", text: expect.stringContaining("sbx-stdio login http://127.0.0.1") });
});

test("a server that calls itself otherwise is told, and no fault", async () => {
  const { url } = await serve({ answers: { [METADATA]: [200, { resource: "https://sbx.test/mcp" }] } });
  const { ok, steps } = await doctor(url);
  const found = steps.find(({ name }) => name === "origin");
  expect([ok, found?.state]).toEqual([true, "unknown"]);
  expect(found?.text).toMatch(/^the server calls itself https:\/\/sbx\.test: /);
});
