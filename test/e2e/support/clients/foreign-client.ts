// A client of another product: any path, any subprotocols, and nothing but the messages as they came.
import WebSocket from "ws";
import { type Person, system } from "../system/system.ts";
import { LIMIT_MS } from "../system/wait.ts";
import { Arrivals } from "./arrivals.ts";
import { HttpRefusal, opened } from "./client.ts";

export interface ForeignOptions {
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const open = new Set<ForeignClient>();

/** Ends what a test left connected. */
export function dropForeignClients(): void {
  for (const client of open) client.socket.terminate();
}

/**
 * Connects with the person's token in the header, and waits until the WebSocket is open.
 * @throws {HttpRefusal} Where the server answered HTTP instead.
 */
export async function foreign(
  who: Person | undefined,
  path: string,
  options: ForeignOptions = {},
): Promise<ForeignClient> {
  const headers = { ...(who === undefined ? {} : { Authorization: `Bearer ${who.token}` }), ...options.headers };
  const url = `${system.origin.replace(/^http/, "ws")}${path}`;
  const socket = new WebSocket(url, [...(options.protocols ?? [])], {
    headers,
    perMessageDeflate: false,
    handshakeTimeout: LIMIT_MS,
  });
  const client = new ForeignClient(socket);
  await opened(socket);
  open.add(client);
  socket.once("close", () => open.delete(client));
  return client;
}

/** Connects where that is refused. @throws {Error} If it is not. */
export async function foreignRefused(
  who: Person | undefined,
  path: string,
  options: ForeignOptions = {},
): Promise<HttpRefusal> {
  try {
    (await foreign(who, path, options)).socket.terminate();
  } catch (error) {
    if (error instanceof HttpRefusal) return error;
    throw error;
  }
  throw new Error("The upgrade was made");
}

export class ForeignClient {
  readonly socket: WebSocket;
  /** All that came, in order: text as text, bytes as bytes. */
  readonly received: (string | Buffer)[] = [];
  #close: { readonly code: number; readonly reason: string } | undefined;
  readonly #arrivals = new Arrivals();

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer, isBinary) => {
      this.received.push(isBinary ? data : data.toString());
      this.#arrivals.came();
    });
    socket.on("error", () => undefined); // A close follows.
    socket.once("close", (code, reason) => {
      this.#close = { code, reason: reason.toString() };
      this.#arrivals.came();
    });
  }

  // ---- Saying --------------------------------------------------------------------------------------------------

  say(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  type(input: string | Uint8Array): void {
    this.socket.send(Buffer.from(input), { binary: true });
  }

  // ---- Having heard --------------------------------------------------------------------------------------------

  /** The text messages that are JSON of this type. */
  messages(type: string): Record<string, unknown>[] {
    return this.received
      .filter((frame) => typeof frame === "string" && frame.startsWith("{"))
      .map((frame) => JSON.parse(String(frame)) as Record<string, unknown>)
      .filter((message) => message.type === type);
  }

  /** The bytes of all binary frames. */
  bytes(): Buffer {
    return Buffer.concat(this.received.filter((frame): frame is Buffer => typeof frame !== "string"));
  }

  // ---- Waiting -------------------------------------------------------------------------------------------------

  async until<T>(what: string, find: () => T | undefined | false): Promise<T> {
    const ended = () => (this.#close === undefined ? undefined : `closed with ${this.#close.code}`);
    const shown = (frame: string | Buffer) => (typeof frame === "string" ? frame : frame.toString("latin1"));
    const describe = () =>
      this.received
        .slice(-20)
        .map((frame) => shown(frame).slice(0, 300))
        .join("\n");
    return this.#arrivals.until(what, find, LIMIT_MS, ended, describe);
  }

  message(type: string, index = 0): Promise<Record<string, unknown>> {
    return this.until(`"${type}" message number ${index}`, () => this.messages(type)[index]);
  }

  /** Waits until the connection is closed. */
  end(): Promise<{ readonly code: number; readonly reason: string }> {
    return this.until("close", () => this.#close);
  }
}
