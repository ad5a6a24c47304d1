// A server that a client under test speaks to: each connection is played by a check, message by message. Knows no session.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/** Nothing that is checked takes so long, on a busy machine either. */
const LIMIT_MS = 60_000;

/** One connection of the client: what it asked for, and all that it said. */
export class Visit {
  readonly query: URLSearchParams;
  readonly #socket: WebSocket;
  readonly #onNews: () => void;
  input = Buffer.alloc(0);
  /** The longest frame of input. */
  longest = 0;
  readonly said: { readonly type: string; readonly offset?: number }[] = [];
  readonly texts: string[] = [];
  code: number | undefined;

  constructor(query: URLSearchParams, socket: WebSocket, onNews: () => void) {
    this.query = query;
    this.#socket = socket;
    this.#onNews = onNews;
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        this.input = Buffer.concat([this.input, data]);
        this.longest = Math.max(this.longest, data.length);
      } else {
        this.texts.push(data.toString());
        this.said.push(JSON.parse(data.toString()));
      }
      this.#onNews();
    });
    socket.on("error", () => undefined); // A close follows.
    socket.on("close", (code) => {
      this.code = code;
      this.#onNews();
    });
  }

  /** The last offset that was acknowledged. */
  get acked(): number {
    return this.said.findLast(({ type }) => type === "ack")?.offset ?? 0;
  }

  say(message: object | string): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  frame(bytes: Uint8Array): void {
    this.#socket.send(bytes, { binary: true });
  }

  output(kind: number, text: string): void {
    this.frame(Buffer.concat([Buffer.from([kind]), Buffer.from(text)]));
  }

  /** A greeting like any other but for these fields. */
  greet(fields: object = {}): void {
    const you = { id: "c1", name: "ann", role: "driver", kind: "person" };
    const facts = { sandbox: "dev", session: "s", incarnation: "i1", tty: false, cols: 80, rows: 24 };
    const place = { offset: 0, live: 0, stdin: 0, resume: "proof", window: 65_536, delivery: "lossless" };
    const people = { you, participants: [you], answerer: { id: "", offset: 0 }, holder: "", mode: "collaborative" };
    this.say({ type: "hello", protocol: "stdio.v1", ...facts, ...place, ...people, ...fields });
  }

  cut(): void {
    this.#socket.terminate();
  }

  close(code: number): void {
    this.#socket.close(code);
  }
}

/** A client under test, and the server that it was sent to. */
export class Host {
  readonly #server: Server;
  readonly #visits: Visit[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #child: ChildProcessWithoutNullStreams;
  stdout = "";
  stderr = "";
  /** How the client ended. */
  exit: number | string | undefined;

  private constructor(server: Server, command: string, isRead: boolean) {
    this.#server = server;
    const sockets = new WebSocketServer({ server, handleProtocols: () => "stdio.v1", perMessageDeflate: false });
    const news = () => this.#news();
    sockets.on("connection", (socket, request) => {
      const query = new URL(request.url ?? "/", "http://host").searchParams;
      this.#visits.push(new Visit(query, socket, news));
      news();
    });
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/attach?sandbox=dev&session=s`;
    this.#child = spawn("sh", ["-c", `exec ${command} "$@"`, "sh", url, "--", "cat"], {
      env: { ...process.env, SBX_TOKEN: "token" },
    });
    this.#child.stdin.on("error", () => undefined);
    if (isRead) this.read();
    this.#child.stderr.on("data", (bytes: Buffer) => {
      this.stderr += bytes.toString("latin1");
      news();
    });
    this.#child.on("close", (code, signal) => {
      this.exit = signal ?? code ?? 0;
      news();
    });
  }

  /** @param command For the shell. @param isRead Whether somebody reads what it writes. */
  static async start(command: string, isRead = true): Promise<Host> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Host(server, command, isRead);
  }

  read(): void {
    this.#child.stdout.on("data", (bytes: Buffer) => {
      this.stdout += bytes.toString("latin1");
      this.#news();
    });
  }

  type(bytes: Uint8Array | string): void {
    this.#child.stdin.write(bytes);
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  get visitCount(): number {
    return this.#visits.length;
  }

  /** The client's connection number `n`, from 0. */
  visit(n: number): Promise<Visit> {
    return this.until(`connection ${n + 1}`, () => this.#visits[n]);
  }

  /** The client's own end. */
  ended(): Promise<number | string> {
    return this.until("end of the client", () => this.exit);
  }

  /** @throws {Error} Which says what did not come. */
  async until<T>(what: string, ask: () => T | undefined | false, limitMs = LIMIT_MS): Promise<T> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const answer = ask();
      if (answer !== undefined && answer !== false) return answer;
      if (performance.now() >= deadline) {
        const state = this.exit === undefined ? "still there" : `ended with ${this.exit}`;
        throw new Error(
          `no ${what}; the client, ${state}, made ${this.visitCount} connections; ${this.stderr.slice(-200)}`,
        );
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, Math.max(0, deadline - performance.now()));
        this.#waiting.add(wake);
      });
    }
  }

  close(): void {
    this.#child.kill("SIGKILL");
    for (const visit of this.#visits) visit.cut();
    this.#server.close();
  }

  #news(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
