// Opens one WebSocket after another to `/attach`. Knows nothing of the messages on them.

import { CLOSE, type ClientSocket, type ClientSocketEvents } from "sandbox-stdio/core";
import { CliError } from "../base/outcome.ts";
import type { OpenSocket, OtherDialect } from "./websocket.ts";

/** The server keeps a session for this long without a client. */
export const GIVE_UP_SECONDS = 1_800;

export type ConnectorOptions = {
  readonly attachUrl: string;
  /** Called before each connection; undefined sends none. @throws {CliError} */
  readonly token: () => Promise<string | undefined>;
  readonly ticket?: string | undefined;
  /** Receives what a pending connection is waiting for. */
  readonly stage?: (text: string) => void;
  /** Absent: it is an attach. */
  readonly other?: OtherDialect;
};

/** Opens connections, and knows when all of them are closed. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #open = new Set<Connection>();
  #whenClosed: (() => void) | undefined;
  #hasBeenOpen = false;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  connect(params: readonly (readonly [string, string])[], events: ClientSocketEvents): ClientSocket {
    const connection = new Connection(events);
    void this.#dial(connection, params, events);
    return connection;
  }

  /** Resolves when the last connection is closed, or after `withinMs`. */
  async closed(withinMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenClosed = resolve;
      setTimeout(resolve, withinMs);
    });
  }

  async #dial(
    connection: Connection,
    params: readonly (readonly [string, string])[],
    events: ClientSocketEvents,
  ): Promise<void> {
    const { attachUrl, ticket, other, stage = () => undefined } = this.#options;
    stage("waiting for an access token");
    // Loaded meanwhile: commands that don't attach never need it.
    const module = import("./websocket.ts");
    let token: string | undefined;
    try {
      token = await this.#options.token();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // Before the first connection a missing token is final; later the network may just be down.
      connection.closed(this.#hasBeenOpen ? CLOSE.tryLater : CLOSE.policy, error.message);
      return;
    }
    const { dial } = await module;
    if (connection.isClosed) return;
    const url = new URL(attachUrl);
    for (const [name, value] of params) url.searchParams.append(name, value);
    this.#open.add(connection);
    connection.socket = dial(
      { url, token, ticket, stage, other },
      {
        ...events,
        open: () => {
          this.#hasBeenOpen = true;
          stage(`connected to ${url.host}: waiting for the session`);
          events.open();
        },
        closed: (code, detail, retryAfterSeconds) => connection.closed(code, detail, retryAfterSeconds),
        gone: () => {
          this.#open.delete(connection);
          if (this.#open.size === 0) this.#whenClosed?.();
        },
      },
    );
  }
}

class Connection implements ClientSocket {
  readonly #events: ClientSocketEvents;
  /** Absent until the access token is known. */
  socket: OpenSocket | undefined;
  #isClosed = false;

  constructor(events: ClientSocketEvents) {
    this.#events = events;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Reports the end once, unless this side closed the connection. */
  closed(code: number, detail: string, retryAfterSeconds = 0): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#events.closed(code, detail, retryAfterSeconds);
  }

  send(message: string | Uint8Array): void {
    this.socket?.send(message);
  }

  close(code: number): void {
    this.#isClosed = true;
    this.socket?.close(code);
  }

  abort(): void {
    this.#isClosed = true;
    this.socket?.terminate();
  }
}
