// A person's terminal on the session: stdio.v1 over a WebSocket, that is cut and comes back with `resume`. Types lines, numbers and
// keeps unacknowledged input, and notes all output.

import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../../local/src/base/random.ts";
import type { Report } from "./report.ts";

export type TerminalOptions = {
  readonly attachUrl: URL;
  readonly token: string;
  readonly sandbox: string;
  readonly session: string;
  readonly random: Random;
  readonly report: Report;
};

type Message = {
  readonly type: string;
  readonly offset?: number;
  readonly stdin?: number;
  readonly resume?: string;
  readonly retry?: string;
};

const PING_MS = 15_000;
/** Silent for so long, a connection counts as lost. */
const SILENCE_MS = 40_000;
const HANDSHAKE_MS = 15_000;
const OUTPUT = 1;
const MOST_PAUSE_MS = 3_000;

export class PersonsTerminal {
  readonly #options: TerminalOptions;
  readonly #life = Math.floor(Date.now()).toString(36);
  #attempt = 0;
  #resume: string | undefined;
  #socket: WebSocket | undefined;
  #isGreeted = false;
  #isOver = false;
  /** All that was typed, and how much of it is acknowledged. */
  #typed = Buffer.alloc(0);
  #acked = 0;
  /** All output since `from`. */
  #output: Buffer[] = [];
  #offset = 0;
  #from: number | undefined;
  readonly #watchers = new Set<() => void>();
  /** The last events, for when it stands still. */
  readonly #events: string[] = [];

  constructor(options: TerminalOptions) {
    this.#options = options;
  }

  /** Where its output begins, and the output. */
  get output(): { readonly from: number; readonly bytes: Buffer } {
    return { from: this.#from ?? 0, bytes: Buffer.concat(this.#output) };
  }

  get end(): number {
    return this.#offset;
  }

  start(): Promise<void> {
    this.#connect();
    return this.#until(() => this.#isGreeted);
  }

  /** Types a line; resolves when the server has taken it. Cuts the connection now and then meanwhile. */
  async type(line: string): Promise<void> {
    const { random, report } = this.#options;
    const bytes = Buffer.from(line);
    this.#typed = Buffer.concat([this.#typed, bytes]);
    const end = this.#typed.length;
    const at = random.int(0, bytes.length);
    if (this.#isGreeted) this.#send(bytes.subarray(0, at));
    if (random.chance(0.2)) {
      report.count("cuts of the person's terminal");
      this.#cut();
    } else if (this.#isGreeted) this.#send(bytes.subarray(at));
    await this.#until(() => this.#acked >= end);
  }

  async untilOutput(offset: number): Promise<void> {
    await this.#until(() => this.#offset >= offset);
  }

  leave(): void {
    this.#isOver = true;
    this.#socket?.close(1000);
  }

  #note(event: string): void {
    this.#events.push(`${Math.round(performance.now() / 1000)} s ${event}`);
    if (this.#events.length > 20) this.#events.shift();
  }

  #connect(): void {
    this.#note("connects");
    const { attachUrl, token, sandbox, session } = this.#options;
    const url = new URL(attachUrl);
    url.protocol = url.protocol.replace("http", "ws");
    const query = { sandbox, session, name: "person", attempt: `${this.#life}.${this.#attempt++}` };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (this.#resume !== undefined) {
      url.searchParams.set("resume", this.#resume);
      url.searchParams.set("offset", String(this.#offset));
      url.searchParams.set("stdin", String(this.#acked));
    }
    const socket = new WebSocket(url, ["stdio.v1", `bearer.${token}`]);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    let heardAtMs = performance.now();
    const ping = setInterval(() => {
      const patienceMs = socket.readyState === WebSocket.OPEN ? SILENCE_MS : HANDSHAKE_MS;
      if (this.#socket === socket && performance.now() - heardAtMs > patienceMs) this.#cut();
      else if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
    }, PING_MS);
    socket.onopen = () => socket.send('{"type":"ping"}');
    socket.onmessage = ({ data }: { readonly data: string | ArrayBuffer }) => {
      if (this.#socket !== socket) return;
      heardAtMs = performance.now();
      if (typeof data === "string") this.#told(JSON.parse(data) as Message);
      else this.#received(Buffer.from(data));
      for (const watcher of [...this.#watchers]) watcher();
    };
    socket.onclose = ({ code, reason }) => {
      this.#note(`closed with ${code} ${reason}`);
      clearInterval(ping);
      if (this.#socket === socket) void this.#comeBack();
    };
    socket.onerror = () => undefined; // A close follows.
  }

  #told({ type, offset = 0, stdin = 0, resume, retry, ...rest }: Message): void {
    const { report } = this.#options;
    if (type !== "pong") this.#note(`${type} ${JSON.stringify({ offset, stdin, ...rest }).slice(0, 200)}`);
    if (type === "hello") {
      this.#resume = resume;
      if (this.#from === undefined) this.#from = offset;
      else if (offset !== this.#offset) report.wrong(`the terminal resumed at ${offset} instead of ${this.#offset}`);
      if (stdin < this.#acked || stdin > this.#typed.length)
        report.wrong(
          `the terminal's input goes on at ${stdin}, acknowledged ${this.#acked}, typed ${this.#typed.length}`,
        );
      this.#offset = offset;
      // R5: the count in hello is settled; no acknowledgement of it follows.
      this.#acked = Math.max(this.#acked, stdin);
      this.#isGreeted = true;
      this.#send(this.#typed.subarray(stdin));
    } else if (type === "stdin_ack") this.#acked = Math.max(this.#acked, offset);
    else if (type === "bye") {
      if (retry === "never") report.wrong(`the terminal was refused: ${JSON.stringify(rest)}`);
      this.#cut(); // Not every proxy delivers the close.
    } else if (type === "gap") report.wrong("the terminal was told of a gap although it acknowledges everything");
    else if (type === "error") report.wrong("the terminal was told of an error");
  }

  #received(frame: Buffer): void {
    if (frame[0] !== OUTPUT) return;
    this.#output.push(frame.subarray(1));
    this.#offset += frame.length - 1;
    this.#socket?.send(JSON.stringify({ type: "ack", offset: this.#offset }));
  }

  /** As a network does: without leaving. A close without a code is all that a WebSocket offers. */
  #cut(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    this.#isGreeted = false;
    this.#socket = undefined;
    if (this.#isOver) return;
    await pause(this.#options.random.next() * Math.min(MOST_PAUSE_MS, 50 * 2 ** Math.min(this.#attempt, 4)));
    if (this.#socket === undefined && !this.#isOver) this.#connect();
  }

  #send(bytes: Buffer): void {
    const STEP = 16_384;
    for (let at = 0; at < bytes.length; at += STEP) this.#socket?.send(Uint8Array.from(bytes.subarray(at, at + STEP)));
  }

  #until(isDone: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isDone()) return;
        clearTimeout(timer);
        this.#watchers.delete(look);
        resolve();
      };
      const timer = setTimeout(() => {
        const state = `typed ${this.#typed.length}, acknowledged ${this.#acked}, output to ${this.#offset}`;
        reject(new Error(`The person's terminal stands still (${state}): ${this.#events.join("; ")}`));
      }, 120_000);
      this.#watchers.add(look);
      look();
    });
  }
}
