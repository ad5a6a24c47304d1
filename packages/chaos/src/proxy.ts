// A TCP proxy for loopback that breaks the connections through it, as planned by a seed. It cuts at any byte: of what is
// said it reads only the first line, to know which session a connection is of.

import { createServer, type Server, type Socket } from "node:net";
import { Random } from "../../local/src/base/random.ts";
import type { Break, BreakKind, ConnectionPlan } from "./faults.ts";
import { ProxiedConnection } from "./proxied-connection.ts";

export type ProxyOptions = {
  readonly target: { readonly host: string; readonly port: number };
  readonly seed: number;
  /**
   * The plan for a connection. Asked for when its first bytes come.
   * @param label The session that it is of; "" where that can't be told. @param n How many of that session were before it.
   */
  readonly plan: (label: string, n: number) => ConnectionPlan;
  /** Asked when a connection is about to be broken. @returns Whether it is. */
  readonly mayBreak?: (kind: BreakKind, label: string) => boolean;
  /** A connection was played twice. */
  readonly onTwin?: (label: string) => void;
};

export class ChaosProxy {
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  /** Nothing can be planned for a connection that has said nothing yet. */
  readonly #silent = new Set<Socket>();
  readonly #counts = new Map<string, number>();
  #bytes = { up: 0, down: 0 };

  private constructor(options: ProxyOptions) {
    this.#options = options;
    // A half-closed connection stays one: the other direction goes on.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
  }

  static async listen(options: ProxyOptions): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject);
      proxy.#server.listen(0, "127.0.0.1", resolve);
    });
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy does not listen");
    return address.port;
  }

  /** Connections that are not quite over, silent ones among them. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Bytes passed on, in all. */
  get bytes(): { readonly up: number; readonly down: number } {
    const sum = { ...this.#bytes };
    for (const connection of this.#connections) {
      sum.up += connection.bytes.up;
      sum.down += connection.bytes.down;
    }
    return sum;
  }

  /** Breaks so each connection that there is and that has not been broken yet: bytes and age count from now. */
  breakFromNow(planned: Break): void {
    for (const connection of this.#connections) connection.breakFromNow(planned);
  }

  /** Ends what is left of broken connections, as a system does that gives up half-open ones. */
  endBroken(): void {
    for (const connection of [...this.#connections]) if (connection.isBroken) connection.destroy();
  }

  /** Ends all connections and listens no more. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of [...this.#connections]) connection.destroy();
    for (const socket of this.#silent) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    socket.on("error", ignore);
    this.#silent.add(socket);
    const endUnheard = () => socket.destroy();
    socket.once("end", endUnheard);
    socket.once("close", () => this.#silent.delete(socket));
    socket.once("data", (head: Uint8Array) => {
      socket.off("end", endUnheard);
      this.#silent.delete(socket);
      socket.pause();
      const label = labelOf(head);
      const n = this.#counts.get(label) ?? 0;
      this.#counts.set(label, n + 1);
      const connection = new ProxiedConnection(socket, head, {
        target: this.#options.target,
        plan: this.#options.plan(label, n),
        random: new Random(this.#options.seed, `pieces ${label} ${n}`),
        mayBreak: (kind) => this.#options.mayBreak?.(kind, label) ?? true,
        onTwin: () => this.#options.onTwin?.(label),
        onOver: () => {
          this.#connections.delete(connection);
          this.#bytes.up += connection.bytes.up;
          this.#bytes.down += connection.bytes.down;
        },
      });
      this.#connections.add(connection);
    });
  }
}

/** The session that a request line names. */
export function labelOf(head: Uint8Array): string {
  const line = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 16_384)).toString("latin1");
  return /^[A-Z]+ [^ ]*(?:[?&]session=|\/sessions\/)([A-Za-z0-9._-]+)/.exec(line)?.[1] ?? "";
}

function ignore(): void {
  // Said by the close that follows.
}
