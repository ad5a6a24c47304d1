// A client made of nothing but a WebSocket and the words of the contract, so that it shares no mistake with the code it
// tests. It keeps all that it received, and waits for what is still to come.
import WebSocket from "ws";
import { type Person, system } from "../system/system.ts";
import { LIMIT_MS, until } from "../system/wait.ts";
import { Arrivals } from "./arrivals.ts";

/** A control message, as it came. */
export type Message = { readonly type: string } & Readonly<Record<string, unknown>>;

export type Received =
  | { readonly kind: "control"; readonly text: string; readonly message: Message }
  | { readonly kind: "output"; readonly stream: number; readonly bytes: Buffer };

const SNAPSHOT = 3;

export type Params = Readonly<Record<string, string | number | readonly string[]>>;

export interface ConnectOptions {
  /** Where the token goes. Default: the Authorization header. */
  readonly tokenIn?: "header" | "subprotocol" | "query" | "nowhere";
  /** Default: `stdio.v1`; an empty list makes a plain client. */
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Acknowledge all output as it comes, or up to an offset: then see {@link TestClient.acknowledge}. Default: yes, in `stdio.v1`. */
  readonly acks?: boolean | (() => number);
  /** Send a ping as soon as it is open, as the contract asks of a `stdio.v1` client. Default: yes, in `stdio.v1`. */
  readonly pings?: boolean;
  /** Another server than the Worker, `ws://HOST:PORT`. */
  readonly server?: string;
}

/** The server's answer to an upgrade that it did not make. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;

  constructor(status: number, headers: Readonly<Record<string, string | string[] | undefined>>, body: string) {
    super(`HTTP ${status}: ${body}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

export function attachUrl(params: Params, server = system.origin.replace(/^http/, "ws")): URL {
  const url = new URL("/attach", server);
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return url;
}

/** Every connection that was made and has not ended, so that no test leaves one behind. */
const open = new Set<TestClient>();

/** Ends what a test left connected, as a lost network would. */
export function dropClients(): void {
  for (const client of open) client.drop();
}

/** Attaches once a bridge that is just back is reached: who is told that it is not (4503) comes again (R11). */
export function attached(...place: Parameters<typeof connect>): Promise<TestClient> {
  return until("the new bridge", async () => {
    const client = await connect(...place);
    const failure = await client.hello().then(() => "", String);
    return !failure.includes("closed with 4503") && client;
  });
}

/**
 * Attaches, and waits until the WebSocket is open.
 * @throws {HttpRefusal} Where the server answered HTTP instead.
 */
export async function connect(
  who: Person | undefined,
  params: Params = {},
  options: ConnectOptions = {},
): Promise<TestClient> {
  const protocols = [...(options.protocols ?? ["stdio.v1"])];
  const headers: Record<string, string> = { ...options.headers };
  const url = attachUrl(params, options.server);
  const place = who === undefined ? "nowhere" : (options.tokenIn ?? "header");
  if (place === "header") headers.Authorization = `Bearer ${who?.token}`;
  if (place === "query") url.searchParams.set("token", who?.token ?? "");
  if (place === "subprotocol") protocols.push(`bearer.${who?.token}`);
  const socket = new WebSocket(url, protocols, { headers, perMessageDeflate: false, handshakeTimeout: LIMIT_MS });
  const isStdio = protocols.includes("stdio.v1");
  // Made before the socket is open: the first messages may come with the handshake.
  const client = new TestClient(socket, options.acks ?? isStdio);
  await opened(socket);
  open.add(client);
  socket.once("close", () => open.delete(client));
  if (options.pings ?? isStdio) client.say({ type: "ping" });
  return client;
}

/** @throws {HttpRefusal} Where the server answered HTTP instead of opening the WebSocket. */
export function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", reject);
    socket.once("unexpected-response", (_request, response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        reject(new HttpRefusal(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString()));
      });
    });
  });
}

/** From so many bytes on, or after so long, an acknowledgement counts as no message (L10). */
const ACK_BYTES = 16 * 1024;
const ACK_INTERVAL_MS = 20;

export class TestClient {
  readonly socket: WebSocket;
  /** All that came, in order. */
  readonly received: Received[] = [];
  /** The code and reason that the connection was closed with. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #close: { readonly code: number; readonly reason: string } | undefined;
  readonly #acks: boolean | (() => number);
  #offset = 0;
  #acked = 0;
  #ackedAtMs = Number.NEGATIVE_INFINITY;
  #ackTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #arrivals = new Arrivals();

  constructor(socket: WebSocket, acks: boolean | (() => number)) {
    this.socket = socket;
    this.#acks = acks;
    socket.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on("error", () => undefined); // A close follows.
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => {
        this.#close = { code, reason: reason.toString() };
        resolve(this.#close);
        this.#arrivals.came();
      });
    });
  }

  // ---- Saying --------------------------------------------------------------------------------------------------

  say(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  type(input: string | Uint8Array): void {
    this.socket.send(Buffer.from(input), { binary: true });
  }

  /** Leaves: the place in the session is given up. */
  async leave(): Promise<void> {
    this.socket.close(1000);
    await this.closed;
  }

  /** Is gone without a word. */
  drop(): void {
    this.socket.terminate();
  }

  // ---- Having heard --------------------------------------------------------------------------------------------

  messages(type: string): Message[] {
    return this.received.flatMap((one) => (one.kind === "control" && one.message.type === type ? [one.message] : []));
  }

  /** All bytes of a stream: 1, 2, or both together where none is named. A snapshot is of none. */
  bytes(stream?: 1 | 2): Buffer {
    const frames = this.received.flatMap((one) =>
      one.kind === "output" && (stream === undefined ? one.stream !== SNAPSHOT : one.stream === stream)
        ? [one.bytes]
        : [],
    );
    return Buffer.concat(frames);
  }

  text(stream?: 1 | 2): string {
    return this.bytes(stream).toString();
  }

  /** Whether the output ends with this, in however many messages it came. Looks at no more of it than that is long. */
  endsWith(text: string): boolean {
    let tail = "";
    for (let at = this.received.length - 1; at >= 0 && tail.length < text.length; at -= 1) {
      const one = this.received[at];
      if (one?.kind !== "output" || one.stream === SNAPSHOT) continue;
      tail = one.bytes.toString("latin1", Math.max(0, one.bytes.length - text.length)) + tail;
    }
    return tail.endsWith(text);
  }

  /** Offset of the next output byte, by the contract's arithmetic. */
  get offset(): number {
    return this.#offset;
  }

  // ---- Waiting -------------------------------------------------------------------------------------------------

  /** The first answer of `find` that is neither undefined nor false, asked after each message. */
  async until<T>(what: string, find: () => T | undefined | false, limitMs = LIMIT_MS): Promise<T> {
    const ended = () => (this.#close === undefined ? undefined : `closed with ${this.#close.code}`);
    return this.#arrivals.until(what, find, limitMs, ended, () => this.describe());
  }

  /** The message of this type that is number `index` of its kind. */
  message(type: string, index = 0): Promise<Message> {
    return this.until(`"${type}" message number ${index}`, () => this.messages(type)[index]);
  }

  hello(): Promise<Message> {
    return this.message("hello");
  }

  /** Waits until the output, of all streams together, contains this. @returns All of it. */
  async output(expected: string | RegExp): Promise<string> {
    const find = typeof expected === "string" ? this.#finder(expected) : () => expected.test(this.text());
    await this.until(`output ${expected}`, find);
    return this.text();
  }

  /** Whether the output contains this. Asked again it looks at what is new, and at no more before it than the text is long. */
  #finder(expected: string): () => boolean {
    const wanted = Buffer.from(expected);
    let [at, tail] = [0, Buffer.alloc(0)];
    return () => {
      if (this.received.length < at) [at, tail] = [0, Buffer.alloc(0)];
      const fresh = this.received.slice(at);
      at = this.received.length;
      const pieces = fresh.flatMap((one) => (one.kind === "output" && one.stream !== SNAPSHOT ? [one.bytes] : []));
      const seen = Buffer.concat([tail, ...pieces]);
      tail = Buffer.from(seen.subarray(Math.max(0, seen.length - wanted.length + 1)));
      return seen.includes(wanted);
    };
  }

  /** Waits for the end: the code of the close, after `exit` or `bye` if one came. */
  async end(): Promise<{ exit: Message | undefined; bye: Message | undefined; code: number; reason: string }> {
    await this.until("close", () => this.#close !== undefined);
    const { code, reason } = await this.closed;
    return { exit: this.messages("exit")[0], bye: this.messages("bye")[0], code, reason };
  }

  /** What came, in words, for a message about what did not. */
  describe(): string {
    const lines = this.received.slice(-30).map((one) => {
      if (one.kind === "control") return one.text;
      const start = JSON.stringify(one.bytes.toString("latin1", 0, 80));
      return `stream ${one.stream}, ${one.bytes.length} bytes: ${start}`;
    });
    return lines.length === 0 ? "(nothing)" : lines.join("\n");
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      const stream = data[0] ?? -1;
      this.received.push({ kind: "output", stream, bytes: data.subarray(1) });
      // A snapshot redraws what was already counted.
      if (stream !== SNAPSHOT) this.#offset += data.length - 1;
    } else {
      const text = data.toString();
      const message = JSON.parse(text) as Message;
      this.received.push({ kind: "control", text, message });
      if (message.type === "hello") this.#offset = Number(message.offset);
      if (message.type === "gap") this.#offset = Number(message.to);
    }
    if (this.#acks !== false && isBinary) this.acknowledge();
    this.#arrivals.came();
  }

  /** At once while much comes, else a moment later for all that came: each small step would cost its budget of messages (L10). */
  acknowledge(): void {
    const offset = typeof this.#acks === "function" ? Math.min(this.#offset, this.#acks()) : this.#offset;
    if (offset <= this.#acked) return;
    const dueMs = this.#ackedAtMs + ACK_INTERVAL_MS - performance.now();
    if (offset - this.#acked < ACK_BYTES && dueMs > 0) {
      this.#ackTimer ??= setTimeout(() => {
        this.#ackTimer = undefined;
        this.acknowledge();
      }, dueMs);
      return;
    }
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.#acked = offset;
    this.#ackedAtMs = performance.now();
    this.say({ type: "ack", offset });
  }
}

/** How a `stdio.v1` client is turned away: a WebSocket that says why. */
export type SocketRefusal = { readonly bye: Message | undefined; readonly code: number; readonly reason: string };

/** Attaches where that is refused. @throws {Error} If it is not. */
export async function refusedSocket(
  who: Person | undefined,
  params: Params = {},
  options: ConnectOptions = {},
): Promise<SocketRefusal> {
  const client = await connect(who, params, options);
  const { bye, code, reason } = await client.end();
  if (client.messages("hello").length > 0) throw new Error(`It was let in:\n${client.describe()}`);
  return { bye, code, reason };
}

/** Attaches as a plain client where that is refused. @throws {Error} If it is not. */
export async function refusedHttp(
  who: Person | undefined,
  params: Params = {},
  options: ConnectOptions = {},
): Promise<HttpRefusal> {
  try {
    const client = await connect(who, params, { protocols: [], ...options });
    client.drop();
  } catch (error) {
    if (error instanceof HttpRefusal) return error;
    throw error;
  }
  throw new Error("The upgrade was made");
}
