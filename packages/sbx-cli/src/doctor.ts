// Tries every step of a connection, one after the other, and names the fault and its remedy.

import dns from "node:dns/promises";
import net from "node:net";
import type { Place } from "./cli-command.ts";
import type { TokenSource } from "./credentials.ts";
import { CliError, EXIT, type Outcome } from "./outcome.ts";
import { oneLine } from "./plain-text.ts";
import { Printer } from "./print.ts";
import { ask } from "./sessions.ts";

const TIMEOUT_MS = 10_000;
/** A token's times are believed to the minute. */
const MAX_SKEW_MS = 60_000;

/** A step that could not be looked at: undefined, which is neither good nor a fault. */
type Step = readonly [name: string, advice: string, run: () => Promise<string | undefined>];

/** @returns 0 where every step is good, else 255. */
export async function diagnose(place: Place, source: TokenSource): Promise<Outcome> {
  const printer = new Printer();
  const { endpoint, sandbox } = place;
  const url = new URL(endpoint.httpBase);
  let token = "";
  let date: string | null = null;
  const steps: Step[] = [
    ["name", "check the address, and the network's DNS", () => lookUp(url.hostname)],
    [
      "server",
      "check the address and the port; a proxy or a firewall may stand between",
      async () => {
        const response = await fetch(`${url.origin}/healthz`, {
          redirect: "manual",
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        date = response.headers.get("Date");
        if (response.status !== 200) throw new Error(`/healthz answers ${response.status}: is this the server?`);
        return url.protocol === "https:"
          ? "answers, over TLS"
          : endpoint.isPrivate
            ? "answers, on this machine"
            : "answers, NOT encrypted";
      },
    ],
    ["clock", "set this machine's clock", async () => clock(date)],
    [
      "token",
      `log in: sbx-stdio login ${endpoint.httpBase}, or give SBX_TOKEN`,
      async () => {
        token = await source.token();
        return "there is one";
      },
    ],
    [
      "access",
      "log in again, or ask for the scope sandbox:connect",
      async () => {
        const sessions = await ask(
          endpoint,
          "GET",
          `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions?limit=1`,
          token,
        );
        await sessions.arrayBuffer();
        return `sandbox ${sandbox} may be looked at`;
      },
    ],
    ["WebSocket", "a proxy on the way may not know WebSockets", () => upgrade(endpoint.attachUrl, token)],
  ];
  for (const [name, advice, step] of steps) {
    try {
      const found = await step();
      if (found === undefined)
        await printer.print(`-     ${name.padEnd(10)} not told: the server does not say its time\n`);
      else await printer.print(`ok    ${name.padEnd(10)} ${oneLine(found)}\n`);
    } catch (error) {
      await printer.print(`FAIL  ${name.padEnd(10)} ${oneLine(reasonOf(error))}\n      ${advice}\n`);
      return printer.end(EXIT.failed);
    }
  }
  return printer.end();
}

async function lookUp(hostname: string): Promise<string> {
  const bare = hostname.replace(/^\[|\]$/g, "");
  if (net.isIP(bare) !== 0) return `${bare} is an address`;
  const { address } = await dns.lookup(bare);
  return `${bare} is ${address}`;
}

function clock(date: string | null): string | undefined {
  if (date === null) return undefined;
  const skewMs = Date.now() - Date.parse(date);
  if (Math.abs(skewMs) > MAX_SKEW_MS)
    throw new Error(`this clock differs from the server's by ${Math.round(skewMs / 1000)} s`);
  return "agrees with the server's";
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
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
