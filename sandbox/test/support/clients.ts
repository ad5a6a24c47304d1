// Clients of the bridge, as tests need them: a plain one, and a session object with its clients on the inner hop.

import { encodeStdin, INNER_PROTOCOL, MAX_WINDOW_BYTES, type Role } from "sandbox-stdio/core";

type Part = { readonly id: string; readonly name: string; readonly cols: number };
export type Message = {
  readonly type: string;
  /** Whom it is for; absent: all. */
  readonly client?: string;
  readonly code?: number | string;
  readonly panes?: readonly Part[];
  readonly windows?: readonly Part[];
  readonly cols?: number;
  readonly rows?: number;
} & Readonly<Record<string, unknown>>;

const SNAPSHOT = 3;

/** Checks a condition after each message. */
class Waiters {
  #looks: (() => void)[] = [];

  look(): void {
    for (const look of [...this.#looks]) look();
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        this.#looks = this.#looks.filter((one) => one !== look);
        resolve();
      };
      this.#looks.push(look);
      look();
    });
  }
}

function open(url: string, secret: string, query: URLSearchParams | Record<string, string>, protocols: string[] = []) {
  const address = `${url.replace("http", "ws")}/attach?${new URLSearchParams(query)}`;
  const socket = new WebSocket(address, { protocols, headers: { Authorization: `Bearer ${secret}` } });
  socket.binaryType = "arraybuffer";
  return socket;
}

/** A client without a subprotocol: bytes both ways, and messages in text. */
export class PlainClient {
  /** Of both streams. */
  output = "";
  readonly messages: Message[] = [];
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #waiters = new Waiters();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.messages.push(JSON.parse(data));
      else this.output += Buffer.from(data as ArrayBuffer, 1).toString();
      this.#waiters.look();
    });
    this.closed = new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  }

  /** @throws {Error} If the bridge refuses it. */
  static async attach(url: string, secret: string, query: URLSearchParams | Record<string, string>) {
    const socket = open(url, secret, query);
    const client = new PlainClient(socket);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", () => reject(new Error("refused")));
    });
    return client;
  }

  get exit(): Message | undefined {
    return this.messages.find(({ type }) => type === "exit");
  }

  say(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  type(text: string): void {
    this.#socket.send(Buffer.from(text));
  }

  until(holds: () => boolean): Promise<void> {
    return this.#waiters.until(holds);
  }

  close(): void {
    this.#socket.close();
  }
}

export class Hop {
  readonly messages: Message[] = [];
  output = "";
  /** What was drawn last. */
  snapshot = "";
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  #slots = 0;
  readonly #waiters = new Waiters();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#told(JSON.parse(data));
      else this.#came(new Uint8Array(data as ArrayBuffer));
      this.#waiters.look();
    });
    this.closed = new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  }

  /** @returns Once the bridge has greeted. @param query As of a client's attach. */
  static async open(url: string, secret: string, query: URLSearchParams | Record<string, string>): Promise<Hop> {
    const hop = new Hop(open(url, secret, query, [INNER_PROTOCOL]));
    const refused = hop.closed.then((code) => Promise.reject(new Error(`The bridge has closed with ${code}`)));
    await Promise.race([hop.until(() => hop.messages.some(({ type }) => type === "hello")), refused]);
    refused.catch(() => undefined); // It ends later.
    return hop;
  }

  attach(role: Role = "driver", size: { readonly cols?: number; readonly rows?: number } = {}): HopClient {
    const client = new HopClient(this, this.#slots++);
    const who = { client: client.id, slot: client.slot, role, name: "", kind: "person", admin: true };
    const flow = { delivery: "live", acknowledges: true, acked: 0, window: MAX_WINDOW_BYTES };
    this.say({ type: "attach", ...who, ...flow, ...size });
    return client;
  }

  say(message: object): void {
    this.send(JSON.stringify(message));
  }

  send(frame: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(frame);
  }

  until(holds: () => boolean): Promise<void> {
    return this.#waiters.until(holds);
  }

  close(): void {
    this.#socket.close();
  }

  #told(message: Message): void {
    this.messages.push(message);
    // After it an object has nothing more to ask.
    if (message.type === "exit") this.#socket.close(1000);
  }

  #came(frame: Uint8Array): void {
    const text = Buffer.from(frame.subarray(1)).toString();
    if (frame[0] === SNAPSHOT) this.snapshot = text;
    else this.output += text;
  }
}

/** One client of those on a hop. */
export class HopClient {
  readonly id = crypto.randomUUID();
  readonly slot: number;
  readonly #hop: Hop;
  #typed = 0;

  constructor(hop: Hop, slot: number) {
    this.#hop = hop;
    this.slot = slot;
  }

  /** What was said to all, or to it. */
  get messages(): Message[] {
    return this.#hop.messages.filter(({ client }) => client === undefined || client === this.id);
  }

  /** What the client says, as the session object passes it on. */
  say(message: { readonly type: string } & Readonly<Record<string, unknown>>): void {
    const isOrder = message.type === "pane" || "pane" in message;
    const passed = isOrder ? { type: "pane", order: JSON.stringify(message) } : message;
    this.#hop.say({ ...passed, client: this.id });
  }

  type(text: string): void {
    const bytes = Buffer.from(text);
    this.#hop.send(encodeStdin(this.slot, this.#typed, bytes));
    this.#typed += bytes.length;
  }

  until(holds: () => boolean): Promise<void> {
    return this.#hop.until(holds);
  }

  close(): void {
    this.#hop.say({ type: "detach", client: this.id, how: "left" });
  }
}
