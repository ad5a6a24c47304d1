// A server and a client of plain TCP for the proxy's tests: they write down what comes and how it ended.

import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { type ConnectionPlan, OPEN_PLAN } from "../src/faults.ts";
import { ChaosProxy, type ProxyOptions } from "../src/proxy.ts";

/** One end of a connection. */
export class End {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  #state: "open" | "ended" | "reset" | "closed" = "open";
  #watchers: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#changed();
    });
    socket.on("end", () => {
      if (this.#state === "open") this.#state = "ended";
      this.#changed();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET" || error.code === "EPIPE") this.#state = "reset";
      this.#changed();
    });
    socket.on("close", () => {
      if (this.#state === "open") this.#state = "closed";
      this.#changed();
    });
  }

  get state() {
    return this.#state;
  }

  get received(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.received.toString("latin1");
  }

  get chunkCount(): number {
    return this.#chunks.length;
  }

  /** Resolves once it is so; looked at whenever something comes. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  #changed(): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
}

export type Loopback = {
  readonly proxy: ChaosProxy;
  /** The server's ends, in order of arrival. */
  readonly servers: readonly End[];
  server(index: number): Promise<End>;
  client(): Promise<End>;
};

/** @param plans Of the connections, in order; further ones are left alone. */
export async function loopback(
  plans: readonly Partial<ConnectionPlan>[],
  options: Partial<ProxyOptions> = {},
  onServer: (end: End) => void = () => undefined,
): Promise<Loopback> {
  const servers: End[] = [];
  let arrived: (() => void)[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const end = new End(socket);
    servers.push(end);
    onServer(end);
    for (const notify of arrived) notify();
    arrived = [];
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  let next = 0;
  const proxy = await ChaosProxy.listen({
    target: { host: "127.0.0.1", port: address.port },
    seed: 1,
    plan: () => ({ ...OPEN_PLAN, ...plans[next++] }),
    ...options,
  });
  const clients: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of clients) socket.destroy();
    await proxy.close();
    for (const end of servers) end.socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    proxy,
    servers,
    server: async (index) => {
      for (;;) {
        const end = servers[index];
        if (end !== undefined) return end;
        await new Promise<void>((resolve) => arrived.push(resolve));
      }
    },
    client: async () => {
      const socket = connect({ host: "127.0.0.1", port: proxy.port, allowHalfOpen: true });
      clients.push(socket);
      await new Promise<void>((resolve, reject) => {
        socket.once("connect", resolve);
        socket.once("error", reject);
      });
      return new End(socket);
    },
  };
}
