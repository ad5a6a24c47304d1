// A bridge of a test's own, and clients of it: plain ones, and those behind a session object.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { readSettings } from "../../src/base/settings.ts";
import { type Bridge, startBridge } from "../../src/server/server.ts";
import { Hop, type HopClient, type Message } from "../support/inner-client.ts";

const TOKEN = "a secret of this test only";
const headers = { Authorization: `Bearer ${TOKEN}` };

let bridge: Bridge;
let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-panes-"));
  const read = readSettings({ HOST: "127.0.0.1", PORT: "0", SANDBOX_ROOT: root }, TOKEN);
  if (!read.ok) throw new Error(read.problem);
  bridge = startBridge(read.settings);
});

afterAll(async () => {
  await bridge.stop();
  rmSync(root, { recursive: true, force: true });
});

/** What a client was told. */
abstract class Told {
  abstract readonly messages: readonly Message[];

  /** The panes that it was told last. */
  get panes() {
    return this.messages.findLast(({ type }) => type === "panes")?.panes ?? [];
  }

  get windows() {
    return this.messages.findLast(({ type }) => type === "panes")?.windows ?? [];
  }

  /** The terminal's sizes, as it was told them. */
  get sizes(): string[] {
    const told = this.messages.filter(({ type }) => type === "hello" || type === "resize");
    return told.map(({ cols, rows }) => `${cols}x${rows}`);
  }
}

/** A client without a subprotocol: bytes both ways, and messages in text. */
export class Client extends Told {
  output = "";
  readonly messages: Message[] = [];
  readonly #socket: WebSocket;
  #look: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    super();
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.messages.push(JSON.parse(data));
      else this.output += Buffer.from(data as ArrayBuffer, 1).toString();
      this.#look();
    });
  }

  /** @returns The client, or the status that refuses it. */
  static async attach(query: Record<string, string>): Promise<Client | number> {
    const url = `${bridge.url}/attach?${new URLSearchParams({ sandbox: "box", ...query })}`;
    const socket = new WebSocket(url.replace("http", "ws"), { headers });
    socket.binaryType = "arraybuffer";
    const client = new Client(socket);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.addEventListener("open", () => resolve(true));
      socket.addEventListener("error", () => resolve(false));
    });
    return isOpen ? client : 422;
  }

  say(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  type(text: string): void {
    this.#socket.send(Buffer.from(text));
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (holds()) resolve();
      };
      this.#look();
    });
  }

  close(): void {
    this.#socket.close();
  }
}

/** A client behind a session object, which is told the panes and can do things with them. */
class Relayed extends Told {
  readonly #client: HopClient;

  constructor(client: HopClient) {
    super();
    this.#client = client;
  }

  get messages(): readonly Message[] {
    return this.#client.messages;
  }

  say(message: Parameters<HopClient["say"]>[0]): void {
    this.#client.say(message);
  }

  until(holds: () => boolean): Promise<void> {
    return this.#client.until(holds);
  }

  close(): void {
    this.#client.close();
  }
}

/** One for each session. */
const hops = new Map<string, Promise<Hop>>();

export async function relayed(query: Record<string, string>): Promise<Relayed> {
  const name = `${query.sandbox}/${query.session}`;
  const hop = hops.get(name) ?? Hop.open(bridge.url, TOKEN, query);
  hops.set(name, hop);
  const { cols, rows = "24", role } = query;
  const size = cols === undefined ? {} : { cols: Number(cols), rows: Number(rows) };
  return new Relayed((await hop).attach(role === "viewer" ? role : "driver", size));
}

export async function attached(query: Record<string, string>): Promise<Client> {
  const client = await Client.attach(query);
  if (typeof client === "number") throw new Error(`refused: ${client}`);
  return client;
}

/** As soon as the bridge knows of the pane. */
export async function ofPane(address: string, session: string, sandbox = "box"): Promise<Client> {
  for (;;) {
    const client = await Client.attach({ sandbox, session, pane: address });
    if (typeof client !== "number") return client;
  }
}

/** How a plain client is refused. */
export async function refusal(query: Record<string, string>): Promise<object> {
  const url = `${bridge.url}/attach?${new URLSearchParams(query)}`;
  const upgrade = { Upgrade: "websocket", Connection: "Upgrade" };
  const answer = await fetch(url, { headers: { ...headers, ...upgrade } });
  return { status: answer.status, ...((await answer.json()) as object) };
}
