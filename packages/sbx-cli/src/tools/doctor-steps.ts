// The steps of a connection, each with what to do where it fails.

import dns from "node:dns/promises";
import net from "node:net";
import { isRecord } from "sandbox-stdio/core";
import type { TokenSource } from "../account/credentials.ts";
import type { CliCommand, Place } from "../args/cli-command.ts";
import { processClock } from "../base/clock.ts";
import type { Endpoint } from "../base/endpoint.ts";
import type { Environment } from "../base/environment.ts";
import { CliError } from "../base/outcome.ts";
import { ask, askJson, RefusedError } from "../connection/api-call.ts";
import { unusedProxy } from "../connection/direct-fetch.ts";
import { refusalOf } from "../connection/refusal.ts";
import { asking, sandboxOf } from "../programs/programs.ts";

const TIMEOUT_MS = 10_000;
/** A container may take minutes to start. */
const START_MS = 180_000;
/** A token's times are believed to the minute. */
const MAX_SKEW_MS = 60_000;
const HTTPS_PORT = 443;
const BAD_HOST = "bad_host";
const ITS_WORD = "what the reason says is the server's word: its logs, or whoever runs it, know more";
const NOT_REACHED = "check the address: http:// or https://, the name and the port; a firewall may stand between";

const ANOTHER = "check the address and its port: another program may answer there";

type DoctorCommand = Extract<CliCommand, { kind: "doctor" }>;

/** `unknown` is neither good nor a fault. */
export type Found = { readonly state: "ok" | "unknown"; readonly text: string };
export type Step = readonly [name: string, advice: string | ((error: unknown) => string), run: () => Promise<Found>];

const ok = (text: string): Found => ({ state: "ok", text });
const unknown = (text: string): Found => ({ state: "unknown", text });

export function stepsOf(command: DoctorCommand, source: TokenSource, env: Environment): readonly Step[] {
  const { endpoint, sandbox } = command;
  const url = new URL(endpoint.httpBase);
  let token = "";
  let date: string | null = null;
  const proxy = unusedProxy(url, env);
  const steps: Step[] = [
    ["URL", "", async () => ok(`${endpoint.attachUrl}, sandbox ${sandbox}`)],
    ["DNS", "check the address, and the network's DNS", async () => ok(await lookUp(url.hostname))],
    ["TLS", NOT_REACHED, async () => (url.protocol === "https:" ? ok(await handshake(url)) : withoutTls(endpoint))],
    [
      "server",
      (error) => (error instanceof CliError ? ITS_WORD : NOT_REACHED),
      async () => {
        const response = await get(`${url.origin}/healthz`);
        date = response.headers.get("Date");
        const text = await response.text();
        const said = refusalOf(text);
        if (response.status === 200 && !isJson(text)) {
          throw new Error("something answers there that is not this server: /healthz is a page");
        }
        // Who it is: that is a later step's.
        if (response.status === 200 || said.code === BAD_HOST) return ok("answers");
        if (said.message !== undefined) throw new CliError(said.message, undefined, { code: said.code });
        const location = response.headers.get("Location");
        const elsewhere = location === null ? undefined : URL.parse(location, url.origin)?.origin;
        if (elsewhere !== undefined) throw new Error(`it leads to ${elsewhere}: give that address`);
        throw new Error(`/healthz answers ${response.status}: is this the server?`);
      },
    ],
    ["clock", "set this machine's clock", async () => clock(date)],
    [
      "token",
      // Where there is none, the reason says how to come by one.
      (error) => (error instanceof CliError ? "" : `log in: sbx-stdio login ${endpoint.httpBase}`),
      async () => {
        token = await source.token();
        return ok(`there is one, from ${source.from}`);
      },
    ],
    [
      "origin",
      "use the address under which people reach the server; whoever runs it sets PUBLIC_ORIGIN and ALLOWED_HOSTS",
      async () => origin(endpoint),
    ],
    [
      "access",
      accessAdvice,
      async () => {
        const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions?limit=1`;
        const text = await ask(endpoint, path, token, { withinMs: TIMEOUT_MS });
        if (!isJson(text))
          throw new Error("something answers there that is not this server: its list of sessions is a page");
        return ok(`sandbox ${sandbox} may be looked at`);
      },
    ],
    ["commands", "", async () => mayRun(await askJson(endpoint, "/api/me", token, { withinMs: TIMEOUT_MS }))],
    [
      "WebSocket",
      "something on the way may not know WebSockets",
      async () => ok(await upgrade(endpoint.attachUrl, token)),
    ],
    [
      "container",
      ITS_WORD,
      async () => {
        if (!command.isStarted) return unknown("not tried: --start starts it, and runs true in it");
        return ok(await start(command, token));
      },
    ],
  ];
  if (proxy === undefined) return steps;
  return [["proxy", "", async () => unknown(`that of ${proxy} is not used: connections go straight`)], ...steps];
}

/** What helps depends on who refused: this server, another one, or nobody. */
function accessAdvice(error: unknown): string {
  const status = error instanceof RefusedError ? error.status : 0;
  if (status === 401 || status === 403) return "log in again, or ask for the scope sandbox:connect";
  if (status === 404 && error instanceof CliError && error.code === "not_found") {
    return "check the address: nothing stands behind the name and the port but /attach";
  }
  if (status === 429 || status >= 500) return ITS_WORD;
  return status === 0 ? NOT_REACHED : `${ANOTHER}: the answer, HTTP ${status}, is none of this server's`;
}

function isJson(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false; // A page for people.
  }
}

/** Whether the server knows itself by this address. Links that it makes, and its page's own connections, have its own. */
async function origin({ httpBase, origin: typed }: Endpoint): Promise<Found> {
  const response = await get(`${httpBase}/.well-known/oauth-protected-resource`);
  const text = await response.text();
  const { code, message } = refusalOf(text);
  if (code === BAD_HOST) throw new Error(message);
  const named = response.ok ? originIn(text) : undefined;
  if (named === undefined) return unknown("not told: the server does not say its own address");
  if (named === typed) return ok("is the server's own");
  return unknown(
    `the server calls itself ${named}: its links and its page are there, and a login may be for that alone`,
  );
}

function originIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { resource } = isRecord(value) ? value : {};
    return typeof resource === "string" ? URL.parse(resource)?.origin : undefined;
  } catch {
    return undefined; // A page for people.
  }
}

async function get(address: string): Promise<Response> {
  return fetch(address, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
}

function withoutTls({ isPrivate }: Endpoint): Found {
  return unknown(
    isPrivate ? "none, and none is needed on this machine" : "none: everybody on the way can read all of it",
  );
}

/** Of its own, so that a fault of TLS is told from what a server answers. */
async function handshake(url: URL): Promise<string> {
  const { connect } = await import("node:tls");
  const host = bareHost(url);
  const name = net.isIP(host) === 0 ? { servername: host } : {};
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(url.port || HTTPS_PORT), ...name, timeout: TIMEOUT_MS }, () => {
      const { valid_to: end } = socket.getPeerCertificate();
      resolve(`${socket.getProtocol()}; its certificate is good until ${end}`);
      socket.destroy();
    });
    socket.once("timeout", () => socket.destroy(new Error("timed out")));
    socket.once("error", reject);
  });
}

async function start(place: Place, token: string): Promise<string> {
  const sinceMs = processClock.now();
  const { state, exit } = await asking(() =>
    sandboxOf(place, async () => token).run({ cmd: "true", waitMs: START_MS }),
  );
  if (state !== "exited" || exit?.code !== 0)
    throw new Error(`the command true is ${state}, with exit code ${exit?.code}`);
  return `runs commands; the first took ${((processClock.now() - sinceMs) / 1_000).toFixed(1)} s`;
}

/** What the token is good for; a server that does not say it is asked by the first command. */
function mayRun(me: unknown): Found {
  if (!isRecord(me) || !Array.isArray(me.scopes)) return unknown("not told whether they may be run");
  if (me.scopes.includes("sandbox:exec") || me.scopes.includes("sandbox:admin")) return ok("may be run");
  return unknown("may not be run: for that, ask for the scope sandbox:exec; --role viewer looks at what runs");
}

/** An address of IPv6 has no brackets but in a URL. */
const bareHost = ({ hostname }: Pick<URL, "hostname">) => hostname.replace(/^\[|\]$/g, "");

async function lookUp(hostname: string): Promise<string> {
  const bare = bareHost({ hostname });
  if (net.isIP(bare) !== 0) return `${bare} is an address`;
  const { address } = await dns.lookup(bare);
  return `${bare} is ${address}`;
}

function clock(date: string | null): Found {
  if (date === null) return unknown("not told: the server does not say its time");
  const skewMs = Date.now() - Date.parse(date);
  if (Math.abs(skewMs) > MAX_SKEW_MS)
    throw new Error(`this clock differs from the server's by ${Math.round(skewMs / 1000)} s`);
  return ok("agrees with the server's");
}

/** A viewer of a session that is not there: refused, but by the server itself and over a WebSocket. */
async function upgrade(attachUrl: string, token: string): Promise<string> {
  const { default: WebSocket } = await import("ws");
  const url = new URL(attachUrl);
  url.search = "?session=doctor-looks-for-nothing&role=viewer&wake=0";
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, ["stdio.v1"], {
      headers: { Authorization: `Bearer ${token}` },
      handshakeTimeout: TIMEOUT_MS,
    });
    socket.once("open", () => {
      socket.terminate();
      resolve("opens");
    });
    socket.once("error", reject);
  });
}
