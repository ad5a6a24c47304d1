// A bridge for a test file and its clients: plain ones, and clients behind a session object.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { Bridge } from "../../src/server/server.ts";
import { bridgeHere, HEADERS, SECRET } from "../support/bridge.ts";
import { Hop, type HopClient, type Message, PlainClient } from "../support/clients.ts";

let bridge: Bridge;
let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-panes-"));
  bridge = bridgeHere(root);
});

afterAll(async () => {
  await bridge.stop();
  rmSync(root, { recursive: true, force: true });
});

/** The panes that a client was told last. */
export function panesOf({ messages }: { readonly messages: readonly Message[] }) {
  return messages.findLast(({ type }) => type === "panes")?.panes ?? [];
}

export function windowsOf({ messages }: { readonly messages: readonly Message[] }) {
  return messages.findLast(({ type }) => type === "panes")?.windows ?? [];
}

/** The terminal's sizes, as a client was told them. */
export function sizesOf({ messages }: { readonly messages: readonly Message[] }): string[] {
  const told = messages.filter(({ type }) => type === "hello" || type === "resize");
  return told.map(({ cols, rows }) => `${cols}x${rows}`);
}

/** One for each session. */
const hops = new Map<string, Promise<Hop>>();

/** A client behind a session object, which is told the panes and can do things with them. */
export async function relayed(query: Record<string, string>): Promise<HopClient> {
  const name = `${query.sandbox}/${query.session}`;
  const hop = hops.get(name) ?? Hop.open(bridge.url, SECRET, query);
  hops.set(name, hop);
  const { cols, rows = "24", role } = query;
  const size = cols === undefined ? undefined : { cols: Number(cols), rows: Number(rows) };
  return (await hop).attach(role === "viewer" ? role : "driver", size);
}

/** A plain client. @throws {Error} If it is refused. */
export function attached(query: Record<string, string>): Promise<PlainClient> {
  return PlainClient.attach(bridge.url, SECRET, { sandbox: "box", ...query });
}

/** A plain client of a pane, as soon as the bridge knows the pane. */
export async function ofPane(address: string, session: string, sandbox = "box"): Promise<PlainClient> {
  for (;;) {
    const client = await attached({ sandbox, session, pane: address }).catch(() => undefined);
    if (client !== undefined) return client;
  }
}

/** How a plain client is refused. */
export async function refusal(query: Record<string, string>): Promise<object> {
  const url = `${bridge.url}/attach?${new URLSearchParams(query)}`;
  const upgrade = { Upgrade: "websocket", Connection: "Upgrade" };
  const answer = await fetch(url, { headers: { ...HEADERS, ...upgrade } });
  return { status: answer.status, ...((await answer.json()) as object) };
}
