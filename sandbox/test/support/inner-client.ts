// A session object as tests need it: one connection to the bridge's inner hop, and the clients that are attached on it.

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
};

const SNAPSHOT = 3;

export class Hop {
  readonly messages: Message[] = [];
  output = "";
  /** What was drawn last. */
  snapshot = "";
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  #slots = 0;
  #looks: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#told(JSON.parse(data));
      else this.#came(new Uint8Array(data as ArrayBuffer));
      for (const look of [...this.#looks]) look();
    });
    this.closed = new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  }

  /** @returns Once the bridge has greeted. @param query As of a client's attach. */
  static async open(url: string, secret: string, query: URLSearchParams | Record<string, string>): Promise<Hop> {
    const hop = new Hop(
      new WebSocket(`${url.replace("http", "ws")}/attach?${new URLSearchParams(query)}`, {
        protocols: [INNER_PROTOCOL],
        headers: { Authorization: `Bearer ${secret}` },
      }),
    );
    const refused = hop.closed.then((code) => Promise.reject(new Error(`The bridge has closed with ${code}`)));
    await Promise.race([hop.until(() => hop.messages.some(({ type }) => type === "hello")), refused]);
    refused.catch(() => undefined); // It ends later.
    return hop;
  }

  attach(role: Role = "driver", size: { readonly cols?: number; readonly rows?: number } = {}): HopClient {
    const client = new HopClient(this, this.#slots++);
    const who = { name: "", kind: "person", admin: true, delivery: "live", acknowledges: true };
    this.say({
      type: "attach",
      client: client.id,
      slot: client.slot,
      role,
      ...who,
      acked: 0,
      window: MAX_WINDOW_BYTES,
      ...size,
    });
    return client;
  }

  say(message: object): void {
    this.send(JSON.stringify(message));
  }

  send(frame: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(frame);
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
