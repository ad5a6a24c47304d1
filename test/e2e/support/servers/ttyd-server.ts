// Stands where a sandbox's ttyd does: speaks ttyd 1.7.7's protocol and answers its routes, one terminal for each sandbox by
// its name in the path. What a terminal is, a test says: a record of what was said, or a real tmux (`tmux-terminal.ts`).
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import WebSocket, { WebSocketServer } from "ws";
import { anyFreePort } from "../../../../packages/local/src/base/ports.ts";
import { until } from "../system/wait.ts";

export const TTYD_PAGE = "<!DOCTYPE html><title>ttyd - Terminal</title>";

/** One connection to a terminal. */
export class TtydConnection {
  /** The first part of its path. */
  readonly sandbox: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: WebSocket;
  readonly received: { readonly bytes: Buffer; readonly isBinary: boolean }[] = [];
  /** Undefined while it is open. */
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(sandbox: string, headers: IncomingHttpHeaders, socket: WebSocket) {
    this.sandbox = sandbox;
    this.headers = headers;
    this.socket = socket;
    socket.on("message", (bytes: Buffer, isBinary) => this.received.push({ bytes, isBinary }));
    socket.on("error", () => undefined); // A close follows.
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
  }

  /** The messages that start with this character, without it. */
  said(prefix: string): string[] {
    return this.received
      .filter(({ bytes }) => bytes[0] === prefix.charCodeAt(0))
      .map(({ bytes }) => bytes.subarray(1).toString());
  }
}

export class TtydServer {
  readonly #server: Server = createServer();
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: () => "tty" });
  /** Every connection that was ever made. */
  readonly connections: TtydConnection[] = [];
  /** What becomes of a new connection; nothing, where a test says nothing. */
  serve: (connection: TtydConnection) => void = () => undefined;
  readonly #port: number;

  static async listen(): Promise<TtydServer> {
    // Not port 0: the system gives such a port to the next connection that is made while this server is gone.
    const server = new TtydServer(await anyFreePort());
    await server.start();
    return server;
  }

  private constructor(port: number) {
    this.#port = port;
    this.#server.on("request", (request, response) => {
      const [, , path = ""] = (request.url ?? "").split("/");
      if (path === "token") {
        response.writeHead(200, { "Content-Type": "application/json;charset=utf-8" }).end('{"token": ""}');
      } else if (path === "") response.writeHead(200, { "Content-Type": "text/html" }).end(TTYD_PAGE);
      else response.writeHead(404).end();
    });
    this.#server.on("upgrade", (request, socket, head) => {
      const [, sandbox = "", path, ...more] = (request.url ?? "").split("/");
      // A ttyd lets in nobody else.
      if (path !== "ws" || more.length > 0 || request.headers["sec-websocket-protocol"] !== "tty") {
        socket.destroy();
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new TtydConnection(sandbox, request.headers, webSocket);
        this.connections.push(connection);
        this.serve(connection);
      });
    });
  }

  /** With the place for a sandbox's name in it. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/{sandbox}`;
  }

  get open(): TtydConnection[] {
    return this.connections.filter(({ closed }) => closed === undefined);
  }

  /** The connection that is number `index` of those to this sandbox, once it is made. */
  connection(sandbox: string, index = 0): Promise<TtydConnection> {
    return until(`connection ${index} to ${sandbox}`, () => this.to(sandbox)[index]);
  }

  to(sandbox: string): TtydConnection[] {
    return this.connections.filter((one) => one.sandbox === sandbox);
  }

  /** On the same port each time. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#port, "127.0.0.1", resolve);
    });
  }

  /** Is gone as a killed container is: without a word, and nobody answers at its port. */
  kill(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { socket } of this.connections) if (socket.readyState !== WebSocket.CLOSED) socket.terminate();
    this.#server.closeAllConnections();
    return closed;
  }
}
