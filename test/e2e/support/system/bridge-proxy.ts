// Stands between the Worker and the bridge: passes every byte on, keeps the first of what the Worker sends on each
// connection, can cut all connections, can let new ones wait, and can hold back what is said on those that there are. Knows no HTTP.
import { connect, createServer, type Server, type Socket } from "node:net";
import { joinSockets } from "../../../../packages/local/src/base/joined-sockets.ts";
import { anyFreePort } from "../../../../packages/local/src/base/ports.ts";

/** What is kept of each connection. */
const RECORDED_BYTES = 64 * 1024;
/** Connections that are kept, newest first to go last. */
const RECORDED_CONNECTIONS = 500;

export class BridgeProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #recorded: Buffer[][] = [];
  /** New connections that wait, while they are held. */
  #held: (() => void)[] | undefined;

  static async listen(bridgePort: number): Promise<BridgeProxy> {
    const port = await anyFreePort();
    const proxy = new BridgeProxy(port, bridgePort);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject);
      proxy.#server.listen(port, "127.0.0.1", resolve);
    });
    return proxy;
  }

  private constructor(port: number, bridgePort: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#server = createServer((client) => {
      const pass = () => {
        if (!client.destroyed) this.#connected(client, connect(bridgePort, "127.0.0.1"));
      };
      // It may be reset while it is held.
      client.on("error", () => client.destroy());
      if (this.#held === undefined) pass();
      else this.#held.push(pass);
    });
  }

  /** What the Worker sent since the last {@link forget}, one entry for each connection, oldest first. */
  get recorded(): Buffer[] {
    return this.#recorded.map((chunks) => Buffer.concat(chunks));
  }

  /** Cuts all connections besides: of one that went on, what follows would not be recorded. */
  forget(): void {
    this.cut();
    this.#recorded = [];
  }

  /** Breaks every connection, as a network does: no closing frame, in either direction. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Lets new connections wait, as a bridge does that is slow to answer. */
  hold(): void {
    this.#held ??= [];
  }

  /** New connections that wait now. */
  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const pass of held) pass();
  }

  /** Nothing comes through any more, and nothing says so: a network that is silent. */
  freeze(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  /** What was said meanwhile comes through, late. */
  thaw(): void {
    for (const socket of this.#sockets) socket.resume();
  }

  close(): Promise<void> {
    this.release();
    this.cut();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #connected(client: Socket, bridge: Socket): void {
    const chunks: Buffer[] = [];
    this.#recorded.push(chunks);
    if (this.#recorded.length > RECORDED_CONNECTIONS) this.#recorded.shift();
    let room = RECORDED_BYTES;
    const record = (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, room));
      room -= chunk.length;
      if (room <= 0) client.off("data", record);
    };
    client.on("data", record);
    joinSockets(client, bridge, this.#sockets);
  }
}
