// A minimal client that checks a server, written from PROTOCOL.md alone: keeps everything it receives, and waits for more. Shares no
// code with our client or server.

import { randomBytes } from "node:crypto";
import WebSocket from "ws";

/** A control message, as it came. */
export type Message = { readonly type: string } & Readonly<Record<string, unknown>>;

export type Query = Readonly<Record<string, string | number | readonly string[]>>;

type Close = { readonly code: number; readonly reason: string };

export type Target = {
  /** Address of `/attach`, with the sandbox and any other parameters that each attach needs. */
  readonly url: URL;
  readonly token: string;
  /** Longest wait for an expected message. Default: a minute. */
  readonly limitMs?: number;
};

/** Longer than any check takes, even on a busy machine. */
const LIMIT_MS = 60_000;
/** Time within which an unexpected message would arrive. */
export const SILENCE_MS = 250;

export class Probe {
  readonly #socket: WebSocket;
  readonly messages: Message[] = [];
  readonly frames: { readonly kind: number; readonly payload: Buffer; readonly after: number }[] = [];
  /** What arrived, in order: types of messages, and `1`, `2`, `3` for frames. */
  readonly order: string[] = [];
  close: Close | undefined;
  /** Offset of the next output byte (F4). */
  offset = 0;
  readonly #acks: boolean;
  readonly #waiting = new Set<() => void>();
  readonly #limitMs: number;

  /** @param acks Whether it acknowledges all output as it comes. */
  constructor({ url, token, limitMs = LIMIT_MS }: Target, query: Query, acks = true) {
    this.#acks = acks;
    this.#limitMs = limitMs;
    const address = new URL(url);
    address.protocol = address.protocol.replace("http", "ws");
    for (const [name, value] of Object.entries(query)) {
      address.searchParams.delete(name);
      for (const one of [value].flat()) address.searchParams.append(name, String(one));
    }
    const headers = token === "" ? {} : { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(address, ["stdio.v1"], { headers, perMessageDeflate: false });
    this.#socket = socket;
    socket.on("open", () => {
      socket.send('{"type":"ping"}');
      this.#came("open");
    });
    socket.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on("unexpected-response", (_, response) => {
      this.close ??= { code: response.statusCode ?? 0, reason: "an HTTP status instead of an upgrade" };
      this.#came("close");
      socket.terminate();
    });
    socket.on("error", (error) => {
      this.close ??= { code: 1006, reason: error.message };
    });
    socket.on("close", (code, reason) => {
      this.close ??= { code, reason: reason.toString() };
      this.#came("close");
    });
  }

  say(message: object | string): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  type(input: string | Uint8Array): void {
    this.#socket.send(Buffer.from(input), { binary: true });
  }

  /** Drops the connection without a close handshake. */
  cut(): void {
    this.#socket.terminate();
  }

  /** Closes with a handshake. */
  leave(code = 1000): void {
    this.#socket.close(code);
  }

  /** Waits until `ask` returns a value. @throws {Error} Names what was missing and what arrived instead. */
  async until<T>(what: string, ask: () => T | undefined | false): Promise<T> {
    const deadline = performance.now() + this.#limitMs;
    for (;;) {
      const answer = ask();
      if (answer !== undefined && answer !== false) return answer;
      if (this.close !== undefined || performance.now() >= deadline) throw new Error(`no ${what}; ${this.#story}`);
      await this.#next(deadline);
    }
  }

  hello(): Promise<Message> {
    return this.message("hello");
  }

  /** Message number `from` of this type, counted from 0. */
  message(type: string, from = 0): Promise<Message> {
    return this.until(`${type} message`, () => this.all(type)[from]);
  }

  /** Waits for the exit, and the close that must follow it. */
  async exit(): Promise<Message> {
    const exit = await this.message("exit");
    await this.closed();
    return exit;
  }

  /** Waits for the server to close the connection. */
  async closed(): Promise<Close> {
    const deadline = performance.now() + this.#limitMs;
    while (this.close === undefined && performance.now() < deadline) await this.#next(deadline);
    if (this.close === undefined) throw new Error(`no close; ${this.#story}`);
    return this.close;
  }

  all(type: string): Message[] {
    return this.messages.filter((message) => message.type === type);
  }

  /** Output of these streams (1, 2; default both) as text. */
  text(...kinds: readonly number[]): string {
    const wanted = kinds.length === 0 ? [1, 2] : kinds;
    return Buffer.concat(
      this.frames.filter(({ kind }) => wanted.includes(kind)).map(({ payload }) => payload),
    ).toString();
  }

  /** Waits until the output ends with this. */
  output(end: string): Promise<true> {
    return this.until(`output that ends with ${JSON.stringify(end)}`, () => this.text().endsWith(end) || undefined);
  }

  /** Waits until no output has come for so long. */
  async still(ms: number): Promise<void> {
    for (let before = -1; before < this.offset; ) {
      before = this.offset;
      await pause(ms);
    }
  }

  /** Resolves at the next message or event, or at the deadline. */
  #next(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, deadline - performance.now()));
      this.#waiting.add(wake);
    });
  }

  get #story(): string {
    const close = this.close === undefined ? "still open" : `closed with ${this.close.code} ${this.close.reason}`;
    return `${close}, came: ${this.order.slice(-12).join(" ") || "nothing"}`;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      const kind = data[0] ?? 0;
      const payload = data.subarray(1);
      if (kind === 1 || kind === 2) this.offset += payload.length;
      this.frames.push({ kind, payload, after: this.offset });
      if (this.#acks && kind <= 3) this.say({ type: "ack", offset: this.offset });
      this.#came(String(kind));
      return;
    }
    const message = JSON.parse(data.toString()) as Message;
    if (message.type === "hello") this.offset = Number(message.offset);
    if (message.type === "gap") this.offset = Number(message.to);
    this.messages.push(message);
    this.#came(message.type);
  }

  #came(what: string): void {
    this.order.push(what);
    for (const wake of [...this.#waiting]) wake();
  }
}

export const freshName = (): string => `check-${randomBytes(6).toString("hex")}`;
export const sh = (script: string): Query => ({ cmd: "sh", arg: ["-c", script] });
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Reconnects with the session and the proof of an earlier `hello`. */
export async function resumed(target: Target, before: Probe, query: Query = {}, acks = true): Promise<Probe> {
  const { session, resume } = await before.hello();
  return new Probe(target, { session: String(session), resume: String(resume), ...query }, acks);
}
