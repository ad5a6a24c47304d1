// The trace of one session object: which of its clients' sockets are traced, and under which name. Without STDIO_TRACE, each
// message costs one lookup in an empty map.

import { describeFrame, type ServerSocket, type Trace, tracedSocket } from "sandbox-stdio/core";
import { type LogEnv, sessionTrace } from "../base/log.ts";

type TracedSpec = { readonly dialect: string; readonly query: { readonly role: string } };

export class SessionTrace {
  readonly #env: LogEnv;
  #trace: Trace | undefined;
  readonly #traced = new Map<WebSocket, { readonly trace: Trace; readonly whom: string }>();
  /** Numbers the connections. */
  #opened = 0;

  constructor(env: LogEnv) {
    this.#env = env;
  }

  /** Undefined if this session is not traced. */
  get trace(): Trace | undefined {
    return this.#trace;
  }

  /** Learns the session's name from an attach, before anything else happens. */
  at({ sandbox, session }: { readonly sandbox: string; readonly session: string }): void {
    this.#trace ??= sessionTrace(this.#env, sandbox, session);
  }

  /** A client's socket was accepted. @returns The socket to send by. */
  opened(socket: WebSocket, own: ServerSocket, { query, dialect }: TracedSpec): ServerSocket {
    const trace = this.#trace;
    if (trace === undefined) return own;
    this.#opened += 1;
    const whom = `#${this.#opened}`;
    this.#traced.set(socket, { trace, whom });
    trace(`opens ${whom} ${dialect} role=${query.role}`);
    return tracedSocket(own, trace, whom, "server");
  }

  heard(socket: WebSocket, frame: string | Uint8Array): void {
    if (this.#traced.size === 0) return;
    const one = this.#traced.get(socket);
    one?.trace(`hears ${one.whom} ${describeFrame(frame, "client")}`);
  }

  ended(socket: WebSocket, code: number): void {
    const one = this.#traced.get(socket);
    one?.trace(`${one.whom} has closed with ${code}`);
    this.#traced.delete(socket);
  }
}
