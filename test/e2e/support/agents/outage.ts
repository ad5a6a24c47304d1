// A way to the Worker, or to another server, that can be out of order for a while: it takes no connection then, and breaks those that there are.
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { system } from "../system/system.ts";

export class Outage {
  readonly #open = new Set<Socket>();
  #isBroken = false;

  /** @returns It, and its address. */
  /** @param to Where it leads. */
  static async make(to = system.origin): Promise<{ outage: Outage; origin: string }> {
    const outage = new Outage();
    const { hostname, host, port } = new URL(to);
    const server = createServer((client) => outage.#pass(client, connect(Number(port), hostname), host));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      outage.begin();
      server.close();
    });
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return { outage, origin: `http://127.0.0.1:${address.port}` };
  }

  begin(): void {
    this.#isBroken = true;
    for (const socket of this.#open) socket.resetAndDestroy();
  }

  end(): void {
    this.#isBroken = false;
  }

  /** The Worker answers by its own name alone. */
  #pass(client: Socket, upstream: Socket, host: string): void {
    client.once("data", (first) => {
      upstream.write(first.toString("latin1").replace(/^Host: .*$/im, `Host: ${host}`), "latin1");
      client.pipe(upstream);
    });
    upstream.pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#open.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        this.#open.delete(one);
        other.destroy();
      });
    }
    if (this.#isBroken) client.resetAndDestroy();
  }
}
