// A bridge that a process has taken over, beside a good one: what is asked of the sandboxes named to it gets a test's answers, and
// everything else goes on to the good bridge.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { INNER_HELLO } from "../../../../packages/sandbox-stdio/test/support/hello.ts";

/** What the bridge of a sandbox does. What is not given is not answered at all. */
export interface Hostility {
  /** `GET /sessions`, `DELETE /sessions/NAME`, and what of `/attach` is not upgraded. */
  answer?(asked: IncomingMessage, response: ServerResponse): void;
  /** An upgrade, before any answer: true where this has dealt with it. */
  upgrade?(asked: IncomingMessage, socket: Socket): boolean;
  /** The inner hop is open. */
  hop?(socket: WebSocket, asked: URL): void;
}

export const HELLO = { ...INNER_HELLO, incarnation: "hostile" } as const;

export class HostileBridge {
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  readonly #hostile = new Map<string, Hostility>();
  /** Connections of hostile sandboxes, with how many bytes were taken of each. */
  readonly #connections = new Set<Socket>();
  readonly #goodPort: number;
  url = "";

  static async listen(goodPort: number): Promise<HostileBridge> {
    const bridge = new HostileBridge(goodPort);
    await new Promise<void>((resolve) => bridge.#server.listen(0, "127.0.0.1", resolve));
    const address = bridge.#server.address();
    bridge.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    return bridge;
  }

  private constructor(goodPort: number) {
    this.#goodPort = goodPort;
    this.#server = createServer((asked, response) => {
      const hostility = this.#of(asked);
      if (hostility === undefined) this.#passOn(asked, response);
      else hostility.answer?.(asked, response);
    });
    this.#server.on("upgrade", (asked: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      const hostility = this.#of(asked);
      if (hostility === undefined) this.#passOnUpgrade(asked, socket, head);
      else if (hostility.upgrade?.(asked, socket) !== true) {
        this.#sockets.handleUpgrade(asked, socket, head, (hop) => {
          hop.on("error", () => hop.terminate());
          hostility.hop?.(hop, new URL(asked.url ?? "", this.url));
        });
      }
    });
    this.#server.on("connection", (socket) => {
      this.#connections.add(socket);
      socket.on("close", () => this.#connections.delete(socket));
    });
  }

  /** From now on the sandbox of this qualified name has this bridge. */
  become(sandbox: string, hostility: Hostility): void {
    this.#hostile.set(sandbox, hostility);
  }

  async close(): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #of(asked: IncomingMessage): Hostility | undefined {
    return this.#hostile.get(new URL(asked.url ?? "", this.url).searchParams.get("sandbox") ?? "");
  }

  #good(asked: IncomingMessage) {
    const { method, headers, url: path } = asked;
    return request({ host: "127.0.0.1", port: this.#goodPort, method, headers, path });
  }

  #passOn(asked: IncomingMessage, response: ServerResponse): void {
    const passed = this.#good(asked);
    passed.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    asked.pipe(passed);
  }

  #passOnUpgrade(asked: IncomingMessage, socket: Socket, head: Buffer): void {
    const passed = this.#good(asked);
    passed.on("upgrade", (answer, other: Socket, otherHead: Buffer) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      other.on("error", () => other.destroy());
      if (otherHead.length > 0) socket.write(otherHead);
      if (head.length > 0) other.write(head);
      other.pipe(socket).pipe(other);
      socket.on("close", () => other.destroy());
    });
    passed.on("response", () => socket.destroy());
    passed.on("error", () => socket.destroy());
    passed.end();
  }
}

/** Sends without an end, as fast as it is taken. @returns How many bytes went out so far. */
export function pour(response: ServerResponse, chunk: Buffer): () => number {
  let sent = 0;
  const more = (): void => {
    while (!response.destroyed) {
      sent += chunk.length;
      if (!response.write(chunk)) break;
    }
    if (!response.destroyed) response.once("drain", more);
  };
  more();
  return () => sent;
}
