// What ttyd's own page says and hears, without the page: its first message, its prefixes, bytes only. It keeps all that it
// received, and waits for what is still to come.
import WebSocket from "ws";
import { until, within } from "../system/wait.ts";

export type TtydMessage = { readonly bytes: Buffer; readonly isBinary: boolean };
export type Close = { readonly code: number; readonly reason: string };

export interface TtydClientOptions {
  /** Default: `tty`. */
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** What the page says first; "" for nothing. Default: the page's words, for a window of 80 by 24. */
  readonly first?: string;
}

const FIRST = '{"AuthToken":"","columns":80,"rows":24}';
const open = new Set<TtydClient>();

/** Ends what a test left connected. */
export function dropTtydClients(): void {
  for (const client of open) client.socket.terminate();
}

/** OSC 133 and 633, which no terminal shows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence is made of them
const MARK = /\x1b\](?:133|633);[^\x07]*\x07/g;

export class TtydClient {
  readonly socket: WebSocket;
  readonly received: TtydMessage[] = [];
  readonly closed: Promise<Close>;

  /** Waits until the WebSocket is open; a refusal may close it right then. @throws {Error} Where HTTP was answered. */
  static async connect(url: string, options: TtydClientOptions = {}): Promise<TtydClient> {
    const headers = { ...options.headers };
    const socket = new WebSocket(url, [...(options.protocols ?? ["tty"])], { headers, perMessageDeflate: false });
    const client = new TtydClient(socket);
    await within(
      `a connection to ${new URL(url).pathname}`,
      new Promise<void>((resolve, reject) => {
        socket.once("open", resolve);
        socket.once("error", reject);
      }),
    );
    open.add(client);
    const first = options.first ?? FIRST;
    if (first !== "") socket.send(Buffer.from(first));
    return client;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (bytes: Buffer, isBinary) => this.received.push({ bytes, isBinary }));
    socket.on("error", () => undefined); // A close follows.
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => {
        open.delete(this);
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  type(text: string): void {
    this.socket.send(Buffer.from(`0${text}`));
  }

  resize(columns: number, rows: number): void {
    this.socket.send(Buffer.from(`1${JSON.stringify({ columns, rows })}`));
  }

  pause(): void {
    this.socket.send(Buffer.from("2"));
  }

  resume(): void {
    this.socket.send(Buffer.from("3"));
  }

  /** Closes as a page does that is left. */
  async leave(code = 1001): Promise<Close> {
    this.socket.close(code);
    return this.end();
  }

  /** All messages that start with this character, without it. */
  said(prefix: string): string[] {
    return this.received
      .filter(({ bytes }) => bytes[0] === prefix.charCodeAt(0))
      .map(({ bytes }) => bytes.subarray(1).toString());
  }

  /** All output so far. */
  output(): Buffer {
    const parts = this.received.filter(({ bytes }) => bytes[0] === 0x30).map(({ bytes }) => bytes.subarray(1));
    return Buffer.concat(parts);
  }

  /** Waits until the output holds this, marks of a shell's commands left out. @returns All of it. */
  shows(expected: string | RegExp): Promise<string> {
    return until(`${expected} in ${JSON.stringify(this.output().toString().slice(-200))}`, () => {
      const text = this.output().toString().replaceAll(MARK, "");
      const isThere = typeof expected === "string" ? text.includes(expected) : expected.test(text);
      return isThere && text;
    });
  }

  /** Waits for the close. */
  end(): Promise<Close> {
    return within("a close", this.closed);
  }
}
