// The network between browser and Worker, which a test can cut and mend. Passes bytes on; knows no HTTP.
import { connect, createServer, type Server, type Socket } from "node:net";
import { joinSockets } from "../../../packages/local/src/base/joined-sockets.ts";

export class Link {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on a loopback port of its own and leads to `port`. */
  static async to(port: number): Promise<Link> {
    const server = createServer();
    const link = new Link(server);
    // It is there as long as its process, and does not keep that.
    server.unref();
    server.on("connection", (near) => link.#join(near, port));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    return link;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The link is closed");
    return address.port;
  }

  /** Breaks every connection as a network does, with no closing frame, and every new one until it is mended. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Passes nothing on, of the connections that there are, until it is mended. */
  hold(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  #join(near: Socket, port: number): void {
    if (this.#isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    joinSockets(near, far, this.#sockets);
  }
}
