// Clients of each kind with a stock emulator behind them, which answers whatever it is asked: what reaches the process is
// then what the server lets it be asked. A new kind is one row.
import headless from "@xterm/headless";
import WebSocket from "ws";
import { type Person, system } from "../system/system.ts";
import { within } from "../system/wait.ts";

/** Where a client of this kind connects, and what its messages carry. */
export type Kind = {
  readonly name: string;
  path(sandbox: string): string;
  readonly protocols?: readonly string[];
  /** What it says when it is connected. */
  readonly first?: string;
  /** The output in a message; undefined: there is none. */
  output(data: Buffer, isBinary: boolean): Uint8Array | string | undefined;
  input(text: string): string | Buffer;
};

/** The session is always `main`. */
export const KINDS: readonly Kind[] = [
  {
    name: "plain",
    path: (sandbox) => `/attach?sandbox=${sandbox}&session=main`,
    output: (data, isBinary) => (isBinary ? data.subarray(1) : undefined),
    input: (text) => Buffer.from(text),
  },
  {
    name: "sandbox addon",
    path: (sandbox) => `/ws/terminal?id=${sandbox}`,
    output: (data, isBinary) => (isBinary ? data : undefined),
    input: (text) => Buffer.from(text),
  },
  {
    name: "ttyd",
    path: (sandbox) => `/terminal/${sandbox}/ws`,
    protocols: ["tty"],
    first: '{"AuthToken":"","columns":80,"rows":24}',
    output: (data) => (data[0] === 0x30 ? data.subarray(1) : undefined),
    input: (text) => Buffer.from(`0${text}`),
  },
  {
    name: "pty",
    path: (sandbox) => `/v1/sandboxes/${sandbox}/exec/pty/shared`,
    protocols: ["pds-pty"],
    output: (data, isBinary) => (isBinary ? data : undefined),
    input: (text) => Buffer.from(text),
  },
  {
    name: "json",
    path: (sandbox) => `/sandbox/terminal?sessionId=${sandbox}:main`,
    output: (data) => {
      const message = JSON.parse(data.toString()) as { type: string; data?: string };
      return message.type === "output" ? message.data : undefined;
    },
    input: (text) => JSON.stringify({ type: "input", data: text }),
  },
];

const open = new Set<EmulatedClient>();

/** Ends what a test left connected. */
export function dropEmulatedClients(): void {
  for (const client of open) client.socket.terminate();
}

export class EmulatedClient {
  readonly socket: WebSocket;
  readonly #kind: Kind;
  readonly #terminal = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  readonly #watchers = new Set<() => void>();

  static async attach(kind: Kind, who: Person, sandbox: string): Promise<EmulatedClient> {
    const url = `${system.origin.replace(/^http/, "ws")}${kind.path(sandbox)}`;
    const headers = { Authorization: `Bearer ${who.token}` };
    const socket = new WebSocket(url, [...(kind.protocols ?? [])], { headers, perMessageDeflate: false });
    const client = new EmulatedClient(kind, socket);
    await within(
      `a connection of ${kind.name}`,
      new Promise<void>((resolve, reject) => {
        socket.once("open", resolve);
        socket.once("error", reject);
      }),
    );
    if (kind.first !== undefined) socket.send(Buffer.from(kind.first));
    return client;
  }

  private constructor(kind: Kind, socket: WebSocket) {
    this.#kind = kind;
    this.socket = socket;
    open.add(this);
    socket.once("close", () => open.delete(this));
    socket.on("message", (data: Buffer, isBinary) => {
      const output = kind.output(data, isBinary);
      if (output === undefined) return;
      this.#terminal.write(output, () => {
        for (const watcher of this.#watchers) watcher();
      });
    });
    this.#terminal.onData((answer) => this.type(answer));
  }

  type(text: string): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(this.#kind.input(text));
  }

  /** Waits until a row of the screen has this in it: then all before it has been drawn. */
  shows(text: string): Promise<void> {
    const isShown = () => {
      const { active } = this.#terminal.buffer;
      for (let y = 0; y < active.length; y += 1) {
        if (active.getLine(y)?.translateToString().includes(text)) return true;
      }
      return false;
    };
    return within(
      `"${text}" on the screen of ${this.#kind.name}`,
      new Promise((resolve) => {
        const look = () => {
          if (!isShown()) return;
          this.#watchers.delete(look);
          resolve();
        };
        this.#watchers.add(look);
        look();
      }),
    );
  }

  async leave(): Promise<void> {
    this.socket.close(1000);
    await new Promise<void>((resolve) => {
      if (this.socket.readyState === WebSocket.CLOSED) resolve();
      else this.socket.once("close", () => resolve());
    });
  }
}
