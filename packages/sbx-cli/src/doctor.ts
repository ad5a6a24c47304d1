// Tries every step of a connection, one after the other, and names the fault and its remedy.

import dns from "node:dns/promises";
import net from "node:net";
import { isRecord } from "sandbox-stdio/core";
import type { CliCommand, Place } from "./cli-command.ts";
import { processClock } from "./clock.ts";
import type { TokenSource } from "./credentials.ts";
import { unusedProxy } from "./direct-fetch.ts";
import type { Environment } from "./logins.ts";
import { networkPhrase } from "./network-words.ts";
import { CliError, EXIT, type Outcome } from "./outcome.ts";
import { oneLine, safeJson } from "./plain-text.ts";
import { Printer } from "./print.ts";
import { asking, sandboxOf } from "./programs.ts";
import { ask } from "./sessions.ts";

const TIMEOUT_MS = 10_000;
/** A container may take minutes to start. */
const START_MS = 180_000;
/** A token's times are believed to the minute. */
const MAX_SKEW_MS = 60_000;

type DoctorCommand = Extract<CliCommand, { kind: "doctor" }>;

/** `unknown` is neither good nor a fault. */
type Found = { readonly state: "ok" | "unknown"; readonly text: string };
type Step = readonly [name: string, advice: string | ((error: unknown) => string), run: () => Promise<Found>];

const ok = (text: string): Found => ({ state: "ok", text });
const unknown = (text: string): Found => ({ state: "unknown", text });

/** @returns 0 where every step is good, else 255. */
export async function diagnose(command: DoctorCommand, source: TokenSource, env: Environment): Promise<Outcome> {
  const printer = new Printer();
  const steps: { name: string; state: string; text: string; advice?: string }[] = [];
  let code: number = EXIT.ok;
  for (const [name, advice, step] of stepsOf(command, source, env)) {
    try {
      const { state, text } = await step();
      steps.push({ name, state, text: oneLine(text) });
    } catch (error) {
      const [text, remedy] = [oneLine(reasonOf(error)), typeof advice === "string" ? advice : advice(error)];
      steps.push({ name, state: "failed", text, ...(remedy === "" ? {} : { advice: remedy }) });
      code = EXIT.failed;
    }
    if (!command.isJson) await printer.print(steps.slice(-1).map(lineOf).join(""));
    if (code !== EXIT.ok) break;
  }
  if (command.isJson) await printer.print(`${safeJson({ ok: code === EXIT.ok, steps }, 2)}\n`);
  return printer.end(code);
}

const MARKS: Readonly<Record<string, string>> = { ok: "ok", unknown: "-", failed: "FAIL" };

function lineOf({ name, state, text, advice }: { name: string; state: string; text: string; advice?: string }): string {
  const line = `${(MARKS[state] ?? "").padEnd(5)} ${name.padEnd(10)} ${text}\n`;
  return advice === undefined ? line : `${line}      ${advice}\n`;
}

function stepsOf(command: DoctorCommand, source: TokenSource, env: Environment): readonly Step[] {
  const { endpoint, sandbox } = command;
  const url = new URL(endpoint.httpBase);
  let token = "";
  let date: string | null = null;
  const proxy = unusedProxy(url, env);
  const steps: Step[] = [
    ["name", "check the address, and the network's DNS", async () => ok(await lookUp(url.hostname))],
    [
      "server",
      "check the address: http:// or https://, the name and the port; a firewall may stand between",
      async () => {
        const response = await fetch(`${url.origin}/healthz`, {
          redirect: "manual",
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        date = response.headers.get("Date");
        if (response.status !== 200) throw new Error(`/healthz answers ${response.status}: is this the server?`);
        if (url.protocol === "https:") return ok("answers, over TLS");
        return ok(endpoint.isPrivate ? "answers, on this machine" : "answers, NOT encrypted");
      },
    ],
    ["clock", "set this machine's clock", async () => clock(date)],
    [
      "token",
      // Where there is none, the reason says how to come by one.
      (error) => (error instanceof CliError ? "" : `log in: sbx-stdio login ${endpoint.httpBase}`),
      async () => {
        token = await source.token();
        return ok("there is one");
      },
    ],
    [
      "access",
      (error) =>
        error instanceof CliError && error.code === "not_found"
          ? "check the address: nothing stands behind the name and the port but /attach"
          : "log in again, or ask for the scope sandbox:connect",
      async () => {
        const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions?limit=1`;
        await (await ask(endpoint, "GET", path, token)).arrayBuffer();
        return ok(`sandbox ${sandbox} may be looked at`);
      },
    ],
    ["commands", "", async () => mayRun(await (await ask(endpoint, "GET", "/api/me", token)).json())],
    [
      "WebSocket",
      "something on the way may not know WebSockets",
      async () => ok(await upgrade(endpoint.attachUrl, token)),
    ],
    [
      "container",
      "what the reason says is the server's word: its logs, or whoever runs it, know more",
      async () => {
        if (!command.isStarted) return unknown("not tried: --start starts it, and runs true in it");
        return ok(await start(command, token));
      },
    ],
  ];
  if (proxy === undefined) return steps;
  return [["proxy", "", async () => unknown(`that of ${proxy} is not used: connections go straight`)], ...steps];
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

async function lookUp(hostname: string): Promise<string> {
  const bare = hostname.replace(/^\[|\]$/g, "");
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

function reasonOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return networkPhrase(cause instanceof Error ? cause : error);
}
