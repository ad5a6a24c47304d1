// A server that breaks one rule of PROTOCOL.md: passes every message on to a real one and back, but for what the broken rule is about.
// The table below says which rule, and how. The conformance kit must find each.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import WebSocket, { WebSocketServer } from "ws";

type Message = { readonly type: string } & Record<string, unknown>;

/** One connection through it. */
class Link {
  readonly query: URLSearchParams;
  /** What the broken rule remembers of this connection. */
  readonly memory = new Map<string, unknown>();
  readonly #client: WebSocket;
  readonly #server: WebSocket;
  readonly #waiting: (string | Buffer)[] = [];

  constructor(query: URLSearchParams, client: WebSocket, server: WebSocket) {
    this.query = query;
    this.#client = client;
    this.#server = server;
    server.on("open", () => {
      for (const message of this.#waiting.splice(0)) server.send(message);
    });
  }

  get isResumed(): boolean {
    return this.query.has("resume");
  }

  /** To the server. */
  up(message: Message | string | Buffer): void {
    const sent = typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message);
    if (this.#server.readyState === WebSocket.CONNECTING) this.#waiting.push(sent);
    else this.#server.send(sent);
  }

  /** To the client. */
  down(message: Message | string | Buffer): void {
    this.#client.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }
}

export type Breach = {
  readonly rule: string;
  /** What this server does instead. */
  readonly how: string;
  /** Of an attach. `known`: names of sessions that were attached to before. */
  readonly query?: (query: URLSearchParams, known: ReadonlySet<string>) => void;
  /** @returns Whether it has been dealt with, and is not to be passed on. */
  readonly fromClient?: ((message: Message | undefined, raw: string | Buffer, link: Link) => boolean) | undefined;
  readonly fromServer?: ((message: Message | undefined, raw: string | Buffer, link: Link) => boolean) | undefined;
  /** The code with which to close the client's connection. */
  readonly closeCode?: (code: number) => number;
  /** The code with which to close the server's connection. */
  readonly leaveCode?: (code: number) => number;
};

/** Messages of this type are changed, or kept if nothing is returned. */
function changes(type: string, change: (message: Message, link: Link) => Message | undefined): Breach["fromServer"] {
  return (message, _raw, link) => {
    if (message?.type !== type) return false;
    const changed = change(message, link);
    if (changed !== undefined) link.down(changed);
    return true;
  };
}
const keeps = (type: string): Breach["fromServer"] => changes(type, () => undefined);

/** Frames of this kind are changed, or kept. */
function frames(kind: number, change: (frame: Buffer, link: Link) => Buffer | undefined): Breach["fromServer"] {
  return (_message, raw, link) => {
    if (typeof raw === "string" || raw[0] !== kind) return false;
    const changed = change(raw, link);
    if (changed !== undefined) link.down(changed);
    return true;
  };
}

const swallows =
  (type: string): Breach["fromClient"] =>
  (message) =>
    message?.type === type;

const ATTACHING: readonly Breach[] = [
  {
    rule: "A1",
    how: "a size that is no number is ignored",
    query: (query) => query.delete("cols"),
  },
  {
    rule: "A2",
    how: "each attach gets a session of its own",
    query: (query) => query.set("session", `${query.get("session")}-${Math.random().toString(36).slice(2)}`),
  },
  {
    rule: "A2b",
    how: "the incarnation is not looked at",
    query: (query) => query.delete("incarnation"),
  },
  {
    rule: "A3",
    how: "another command for a living session is ignored",
    query: (query, known) => {
      if (known.has(query.get("session") ?? "")) for (const name of ["cmd", "arg"]) query.delete(name);
    },
  },
  { rule: "A7", how: "a refusal is a close alone", fromServer: keeps("bye") },
  {
    rule: "A8",
    how: "the first frame comes before hello",
    fromServer: (message, raw, link) => {
      if (message?.type === "hello") link.memory.set("hello", raw);
      else if (typeof raw === "string") return false;
      else {
        link.down(raw);
        const hello = link.memory.get("hello");
        if (link.memory.delete("hello")) link.down(hello as string);
      }
      return true;
    },
  },
  {
    rule: "A11",
    how: "the reason of a failed start is not said",
    fromServer: changes("bye", (bye) => ({ ...bye, reason: "failed" })),
  },
  {
    rule: "A12",
    how: "an ended session is replaced without being asked for",
    query: (query) => {
      query.set("ended", "replace");
      query.set("attempt", `${Math.random().toString(36).slice(2, 10)}.1`);
    },
  },
  { rule: "C4", how: "pings are not answered", fromServer: keeps("pong") },
];

const OUTPUT: readonly Breach[] = [
  {
    rule: "F1",
    how: "stderr comes as stdout",
    fromServer: frames(2, (frame) => Buffer.concat([Buffer.from([1]), frame.subarray(1)])),
  },
  { rule: "F6", how: "the snapshot is not sent", fromServer: frames(3, () => undefined) },
  {
    rule: "O1",
    how: "two frames are swapped",
    fromServer: (message, raw, link) => {
      const first = link.memory.get("first") as Buffer | undefined;
      if (typeof raw !== "string" && !link.memory.has("done")) {
        if (first === undefined) link.memory.set("first", raw);
        else {
          link.memory.set("done", true);
          link.down(raw);
          link.down(first);
        }
        return true;
      }
      if (message?.type === "exit" && first !== undefined && !link.memory.has("done")) link.down(first);
      return false;
    },
  },
  { rule: "O3", how: "a change of size is not told", fromServer: keeps("resize") },
  {
    rule: "O4",
    how: "a gap is silent",
    fromServer: changes("hello", ({ gap: _, ...hello }) => hello),
  },
  {
    rule: "W1",
    how: "an acknowledgement of what was not sent is ignored",
    fromClient: (message) => message?.type === "ack" && Number(message.offset) === 4,
  },
  {
    rule: "W2",
    how: "output goes on without acknowledgements",
    fromServer: (message, raw, link) => {
      const at = Number(message?.type === "hello" ? message.offset : (link.memory.get("at") ?? 0));
      const end = typeof raw === "string" ? at : at + raw.length - 1;
      link.memory.set("at", end);
      if (typeof raw !== "string") link.up({ type: "ack", offset: end });
      return false;
    },
    fromClient: swallows("ack"),
  },
];

const RESUME: readonly Breach[] = [
  {
    rule: "R1",
    how: "output continues a byte too late",
    fromServer: (_message, raw, link) => {
      if (typeof raw === "string" || !link.isResumed || link.memory.has("done")) return false;
      link.memory.set("done", true);
      link.down(Buffer.concat([raw.subarray(0, 1), raw.subarray(2)]));
      return true;
    },
  },
  {
    rule: "R1",
    how: "output continues with a byte that came before",
    fromServer: (_message, raw, link) => {
      if (typeof raw === "string" || !link.isResumed || link.memory.has("done")) return false;
      link.memory.set("done", true);
      link.down(Buffer.concat([raw.subarray(0, 2), raw.subarray(1)]));
      return true;
    },
  },
  {
    rule: "R2",
    how: "a forged resume is a new client",
    query: (query) => {
      if (query.get("resume")?.endsWith("AAAA")) query.delete("resume");
    },
  },
  {
    rule: "R3",
    how: "an offset that was never written is ignored",
    query: (query) => query.delete("offset"),
  },
  {
    rule: "R4",
    how: "the resume of a process that was replaced attaches to the new one",
    query: (query) => {
      if (query.has("resume")) for (const name of ["resume", "offset", "ended"]) query.delete(name);
    },
  },
  {
    rule: "R6",
    how: "a life that kept no input is numbered from 0",
    fromServer: changes("hello", (hello, link) => (link.query.get("stdin") === "new" ? { ...hello, stdin: 0 } : hello)),
  },
  {
    rule: "R8",
    how: "a client that left comes back as a new one",
    query: (query) => query.delete("resume"),
  },
  {
    rule: "R9",
    how: "a client that vanished has left",
    leaveCode: () => 1000,
  },
  {
    rule: "R10",
    how: "the older socket is told to come back",
    fromServer: changes("bye", (bye) => ({ ...bye, retry: "now" })),
  },
  {
    rule: "R10",
    how: "attempts are not told apart",
    query: (query) => query.delete("attempt"),
  },
  {
    rule: "X1",
    how: "each exit code is 0",
    fromServer: changes("exit", (exit) => ({ ...exit, code: 0 })),
  },
  {
    rule: "X1",
    how: "the exit's offset is one short",
    fromServer: changes("exit", (exit) => ({ ...exit, offset: Number(exit.offset) - 1 })),
  },
  {
    rule: "X1",
    how: "the signal is not named",
    fromServer: changes("exit", ({ signal: _, ...exit }) => exit),
  },
  { rule: "X2", how: "the close after the exit is 1011", closeCode: (code) => (code === 1000 ? 1011 : code) },
  {
    rule: "X4",
    how: "the exit is told once only",
    fromServer: changes("exit", (exit, link) => (link.isResumed ? undefined : exit)),
  },
];

const INPUT: readonly Breach[] = [
  {
    rule: "C1",
    how: "an unknown type closes with 1008",
    fromServer: (message, _raw, link) => {
      if (message?.type !== "error" || message.code !== "unknown_type") return false;
      link.up("not JSON");
      return true;
    },
  },
  { rule: "C2", how: "nobody hears who comes", fromServer: keeps("join") },
  {
    rule: "C3",
    how: "a text that is not JSON is ignored",
    fromClient: (message, raw) => typeof raw === "string" && message === undefined,
  },
  { rule: "C6", how: "signals get lost", fromClient: swallows("signal") },
  {
    rule: "F2",
    how: "a frame over its limit is cut in two",
    fromClient: (_message, raw, link) => {
      if (typeof raw === "string" || raw.length <= 65_536) return false;
      link.up(raw.subarray(0, 65_536));
      link.up(raw.subarray(65_536));
      return true;
    },
  },
  {
    rule: "I2",
    how: "input is acknowledged as it comes",
    fromClient: (_message, raw, link) => {
      if (typeof raw === "string") return false;
      const end = Number(link.memory.get("end") ?? 0) + raw.length;
      link.memory.set("end", end);
      link.down({ type: "stdin_ack", offset: end });
      return false;
    },
  },
  { rule: "I2", how: "input is never acknowledged", fromServer: keeps("stdin_ack") },
  {
    rule: "I3b",
    how: "how much a client can keep is not looked at",
    query: (query) => query.delete("keeps"),
  },
  {
    rule: "I5",
    how: "input that was taken is asked for again, and taken again",
    query: (query) => {
      if (query.has("resume")) query.set("stdin", "new");
    },
    fromServer: changes("hello", (hello, link) => (link.isResumed ? { ...hello, stdin: 0 } : hello)),
  },
  {
    rule: "I7",
    how: "refused input is refused as if another client had the keyboard",
    fromServer: changes("error", (error) => ({ ...error, code: "not_stdin_holder" })),
  },
  {
    rule: "I7",
    how: "refused input is not acknowledged",
    fromServer: changes("stdin_ack", (ack) => (Number(ack.offset) > 2 ? undefined : ack)),
  },
  {
    rule: "I7",
    how: "stdin_closed does not come again before hello",
    fromServer: (message, _raw, link) => {
      if (message?.type === "hello") link.memory.set("greeted", true);
      return message?.type === "error" && !link.memory.has("greeted");
    },
  },
  {
    rule: "I9",
    how: "the end of input comes before the input",
    fromServer: (message, _raw, link) => {
      if (message?.type === "hello" && !link.isResumed) link.up({ type: "eof", offset: 0 });
      return false;
    },
  },
  {
    rule: "K1",
    how: "everybody may type in an exclusive session",
    query: (query) => query.delete("mode"),
  },
  {
    rule: "K2",
    how: "the keyboard can't be given away",
    fromClient: swallows("grant_stdin"),
  },
  {
    rule: "K3",
    how: "a viewer is a driver",
    query: (query, known) => {
      if (known.has(query.get("session") ?? "")) query.delete("role");
    },
  },
  {
    rule: "L4",
    how: "more input than may wait is dropped",
    fromClient: (_message, raw, link) => {
      if (typeof raw === "string") return false;
      const sent = Number(link.memory.get("sent") ?? 0) + raw.length;
      link.memory.set("sent", sent);
      return sent > 262_144;
    },
  },
];

export const BREACHES: readonly Breach[] = [...ATTACHING, ...OUTPUT, ...RESUME, ...INPUT];

/** Codes that a party may send; what it only hears of breaks the connection instead. */
const isSendable = (code: number): boolean => code === 1000 || code >= 3000 || (code >= 1007 && code <= 1014);

export class BrokenServer {
  readonly url: URL;
  readonly #server: Server;
  readonly #sockets = new Set<WebSocket>();
  readonly #known = new Set<string>();

  private constructor(server: Server, target: URL, breach: Breach) {
    this.#server = server;
    this.url = new URL(target);
    this.url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sockets = new WebSocketServer({ server, handleProtocols: () => "stdio.v1", perMessageDeflate: false });
    sockets.on("connection", (client, { url = "/", headers }) => {
      const address = new URL(target);
      address.protocol = address.protocol.replace("http", "ws");
      const query = new URL(url, "http://host").searchParams;
      const session = query.get("session") ?? "";
      breach.query?.(query, this.#known);
      this.#known.add(session);
      address.search = query.toString();
      const { authorization = "" } = headers;
      const server = new WebSocket(address, ["stdio.v1"], { headers: { authorization }, perMessageDeflate: false });
      this.#join(new Link(query, client, server), client, server, breach);
    });
  }

  static async listen(target: URL, breach: Breach): Promise<BrokenServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new BrokenServer(server, target, breach);
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
    this.#server.close();
  }

  #join(
    link: Link,
    client: WebSocket,
    server: WebSocket,
    { fromClient, fromServer, closeCode, leaveCode }: Breach,
  ): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined); // A close follows.
    }
    client.on("message", (data: Buffer, isBinary) => {
      const raw = isBinary ? data : data.toString();
      if (fromClient?.(messageOf(raw), raw, link) !== true) link.up(raw);
    });
    server.on("message", (data: Buffer, isBinary) => {
      const raw = isBinary ? data : data.toString();
      if (fromServer?.(messageOf(raw), raw, link) !== true) link.down(raw);
    });
    server.on("close", (code, reason) => end(client, closeCode?.(code) ?? code, reason.toString()));
    client.on("close", (code) => end(server, leaveCode?.(code) ?? code, ""));
  }
}

function end(socket: WebSocket, code: number, reason: string): void {
  if (isSendable(code) && socket.readyState === WebSocket.OPEN) socket.close(code, reason);
  else socket.terminate();
}

function messageOf(raw: string | Buffer): Message | undefined {
  if (typeof raw !== "string") return undefined;
  try {
    return JSON.parse(raw) as Message;
  } catch {
    return undefined; // What the check says on purpose.
  }
}
