// `doctor`: checks each step of a connection until one fails, and reports the fault and what to do.

import dns from "node:dns/promises";
import net from "node:net";
import { defined, isRecord } from "sandbox-stdio/core";
import type { TokenSource } from "../account/credentials.ts";
import type { CliCommand, Target } from "../args/cli-command.ts";
import { processClock } from "../base/clock.ts";
import type { Endpoint } from "../base/endpoint.ts";
import type { Environment } from "../base/environment.ts";
import { networkReason } from "../base/network-errors.ts";
import { CliError, EXIT, type Outcome } from "../base/outcome.ts";
import { oneLine, safeJson } from "../base/plain-text.ts";
import { Printer } from "../base/print.ts";
import { fetchJson, fetchText, RefusedError } from "../connection/api-call.ts";
import { unusedProxy } from "../connection/direct-fetch.ts";
import { refusalOf } from "../connection/refusal.ts";
import { apiCall, sandboxOf } from "../programs/programs.ts";

const TIMEOUT_MS = 10_000;
/** Limit of a container's start. */
const START_MS = 180_000;
/** Tolerated clock difference: tokens are checked to the minute. */
const MAX_SKEW_MS = 60_000;
const HTTPS_PORT = 443;
const BAD_HOST = "bad_host";
const SERVER_REASON = "the reason comes from the server: see its logs, or ask its operator";
const NOT_REACHED = "check the address (http:// or https://, host and port) and firewalls in between";

const OTHER_PROGRAM = "check the address and port: another program may be listening there";

type DoctorCommand = Extract<CliCommand, { kind: "doctor" }>;

/** `unknown` is neither good nor a failure. */
type StepResult = { readonly state: "ok" | "unknown"; readonly text: string };
type Step = readonly [name: string, advice: string | ((error: unknown) => string), run: () => Promise<StepResult>];

const ok = (text: string): StepResult => ({ state: "ok", text });
const unknown = (text: string): StepResult => ({ state: "unknown", text });

/** @returns Exit code 0 if every step is good, else 255. */
export async function diagnose(command: DoctorCommand, source: TokenSource, env: Environment): Promise<Outcome> {
  const printer = new Printer();
  const reports: Report[] = [];
  let code: number = EXIT.ok;
  for (const [name, advice, step] of stepsFor(command, source, env)) {
    let report: Report;
    try {
      const { state, text } = await step();
      report = { name, state, text: oneLine(text) };
    } catch (error) {
      const remedy = typeof advice === "string" ? advice : advice(error);
      report = { name, state: "failed", text: oneLine(reasonOf(error)), ...defined({ advice: remedy || undefined }) };
      code = EXIT.failed;
    }
    reports.push(report);
    if (!command.isJson) await printer.print(lineOf(report));
    if (code !== EXIT.ok) break;
  }
  if (command.isJson) await printer.print(`${safeJson({ ok: code === EXIT.ok, steps: reports }, 2)}\n`);
  return printer.end(code);
}

type Report = {
  readonly name: string;
  readonly state: StepResult["state"] | "failed";
  readonly text: string;
  readonly advice?: string;
};

const MARKS: { readonly [state in Report["state"]]: string } = { ok: "ok", unknown: "-", failed: "FAIL" };

function lineOf({ name, state, text, advice }: Report): string {
  const line = `${MARKS[state].padEnd(5)} ${name.padEnd(10)} ${text}\n`;
  return advice === undefined ? line : `${line}      ${advice}\n`;
}

function reasonOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return networkReason(cause instanceof Error ? cause : error);
}

function stepsFor(command: DoctorCommand, source: TokenSource, env: Environment): readonly Step[] {
  const { endpoint, sandbox } = command;
  const url = new URL(endpoint.httpBase);
  let token = "";
  let date: string | null = null;
  const proxy = unusedProxy(url, env);
  const steps: Step[] = [
    ["URL", "", async () => ok(`${endpoint.attachUrl}, sandbox ${sandbox}`)],
    ["DNS", "check the host name and the DNS server", async () => ok(await lookUp(url.hostname))],
    ["TLS", NOT_REACHED, async () => (url.protocol === "https:" ? ok(await handshake(url)) : withoutTls(endpoint))],
    [
      "server",
      (error) => (error instanceof CliError ? SERVER_REASON : NOT_REACHED),
      async () => {
        const response = await get(`${url.origin}/healthz`);
        date = response.headers.get("Date");
        const text = await response.text();
        const refusal = refusalOf(text);
        if (response.status === 200 && !isJson(text)) {
          throw new Error("not an sbx-stdio server: /healthz is a web page");
        }
        // The host is checked in a later step.
        if (response.status === 200 || refusal.code === BAD_HOST) return ok("answers");
        if (refusal.message !== undefined) throw new CliError(refusal.message, undefined, { code: refusal.code });
        const location = response.headers.get("Location");
        const elsewhere = location === null ? undefined : URL.parse(location, url.origin)?.origin;
        if (elsewhere !== undefined) throw new Error(`redirected to ${elsewhere}: use that address`);
        throw new Error(`/healthz returned HTTP ${response.status}: is this the right server?`);
      },
    ],
    ["clock", "set this machine's clock", async () => clock(date)],
    [
      "token",
      // Without a token, the reason says how to get one.
      (error) => (error instanceof CliError ? "" : `log in: sbx-stdio login ${endpoint.httpBase}`),
      async () => {
        token = await source.token();
        return ok(`found: ${source.from}`);
      },
    ],
    [
      "origin",
      "use the server's public address; its operator sets PUBLIC_ORIGIN and ALLOWED_HOSTS",
      async () => origin(endpoint),
    ],
    [
      "access",
      accessAdvice,
      async () => {
        const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions?limit=1`;
        const text = await fetchText(endpoint, path, token, { withinMs: TIMEOUT_MS });
        if (!isJson(text)) throw new Error("not an sbx-stdio server: the list of sessions is a web page");
        return ok(`sandbox ${sandbox} is accessible`);
      },
    ],
    ["commands", "", async () => mayRun(await fetchJson(endpoint, "/api/me", token, { withinMs: TIMEOUT_MS }))],
    [
      "WebSocket",
      "a proxy in between may not support WebSockets",
      async () => ok(await upgrade(endpoint.attachUrl, token)),
    ],
    [
      "container",
      SERVER_REASON,
      async () => {
        if (!command.isStarted) return unknown("not checked: --start starts the sandbox and runs true");
        return ok(await start(command, token));
      },
    ],
  ];
  if (proxy === undefined) return steps;
  return [["proxy", "", async () => unknown(`${proxy} is ignored: connections are direct`)], ...steps];
}

/** Advice by who refused: this server, another one, or none. */
function accessAdvice(error: unknown): string {
  const status = error instanceof RefusedError ? error.status : 0;
  if (status === 401 || status === 403) return "log in again, or ask for the scope sandbox:connect";
  if (status === 404 && error instanceof CliError && error.code === "not_found") {
    return "check the address: only /attach may follow the host and port";
  }
  if (status === 429 || status >= 500) return SERVER_REASON;
  return status === 0 ? NOT_REACHED : `${OTHER_PROGRAM} (HTTP ${status})`;
}

function isJson(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false; // A web page.
  }
}

/** Whether the address is the server's own, which its links and its page use. */
async function origin({ httpBase, origin: typed }: Endpoint): Promise<StepResult> {
  const response = await get(`${httpBase}/.well-known/oauth-protected-resource`);
  const text = await response.text();
  const { code, message } = refusalOf(text);
  if (code === BAD_HOST) throw new Error(message);
  const named = response.ok ? originIn(text) : undefined;
  if (named === undefined) return unknown("unknown: the server does not report its own address");
  if (named === typed) return ok("matches the server's");
  return unknown(`the server calls itself ${named}: its links, its page and logins may only work there`);
}

function originIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { resource } = isRecord(value) ? value : {};
    return typeof resource === "string" ? URL.parse(resource)?.origin : undefined;
  } catch {
    return undefined; // A web page.
  }
}

async function get(address: string): Promise<Response> {
  return fetch(address, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
}

function withoutTls({ isPrivate }: Endpoint): StepResult {
  return unknown(isPrivate ? "none, not needed on this machine" : "none: traffic can be read on the network");
}

/** A separate handshake, to tell TLS faults from HTTP ones. */
async function handshake(url: URL): Promise<string> {
  const { connect } = await import("node:tls");
  const host = bareHost(url);
  const name = defined({ servername: net.isIP(host) === 0 ? host : undefined });
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(url.port || HTTPS_PORT), ...name, timeout: TIMEOUT_MS }, () => {
      const { valid_to: end } = socket.getPeerCertificate();
      resolve(`${socket.getProtocol()}; certificate valid until ${end}`);
      socket.destroy();
    });
    socket.once("timeout", () => socket.destroy(new Error("timed out")));
    socket.once("error", reject);
  });
}

async function start(target: Target, token: string): Promise<string> {
  const sinceMs = processClock.now();
  const { state, exit } = await apiCall(() =>
    sandboxOf(target, async () => token).run({ cmd: "true", waitMs: START_MS }),
  );
  if (state !== "exited" || exit?.code !== 0)
    throw new Error(`the command true is ${state}, with exit code ${exit?.code}`);
  return `runs commands; the first took ${((processClock.now() - sinceMs) / 1_000).toFixed(1)} s`;
}

/** Whether the token's scopes allow commands. */
function mayRun(me: unknown): StepResult {
  if (!isRecord(me) || !Array.isArray(me.scopes)) return unknown("unknown: the server does not report scopes");
  if (me.scopes.includes("sandbox:exec") || me.scopes.includes("sandbox:admin")) return ok("allowed");
  return unknown("not allowed: needs the scope sandbox:exec; --role viewer can watch running sessions");
}

/** Without the brackets of an IPv6 address. */
const bareHost = ({ hostname }: Pick<URL, "hostname">) => hostname.replace(/^\[|\]$/g, "");

async function lookUp(hostname: string): Promise<string> {
  const bare = bareHost({ hostname });
  if (net.isIP(bare) !== 0) return `${bare} is an IP address`;
  const { address } = await dns.lookup(bare);
  return `${bare} is ${address}`;
}

function clock(date: string | null): StepResult {
  if (date === null) return unknown("unknown: the server does not report its time");
  const skewMs = Date.now() - Date.parse(date);
  if (Math.abs(skewMs) > MAX_SKEW_MS)
    throw new Error(`this clock differs from the server's by ${Math.round(skewMs / 1000)} s`);
  return ok("agrees with the server's");
}

/** Attaches as viewer of an absent session: the server refuses it over the WebSocket. */
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
