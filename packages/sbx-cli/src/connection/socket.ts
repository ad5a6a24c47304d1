// One WebSocket after another to `/attach`: over ws, or in the compiled program over Bun's own as long as that can be made. Knows
// nothing of the messages on them.

import { CLOSE, type ClientSocket, type ClientSocketEvents } from "sandbox-stdio/core";
import { CliError } from "../base/outcome.ts";
import { dialByBun, hasBunSocket } from "./bun-line.ts";
import type { Line, LineEvents, LineWish } from "./line.ts";

/** A server keeps a session for so long without a client: then there is nothing to come back to. */
export const GIVE_UP_SECONDS = 1_800;

export type ConnectorOptions = {
  readonly attachUrl: string;
  /** Asked before each connection; undefined: none is sent. @throws {CliError} */
  readonly token: () => Promise<string | undefined>;
  readonly ticket?: string | undefined;
  /** Told what the connection that is being made waits for now, in words. */
  readonly stage?: (words: string) => void;
};

/** Makes connections, and knows when all of them are gone. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #open = new Set<Connection>();
  #whenClosed: (() => void) | undefined;
  #hasBeenOpen = false;
  #isByBun = hasBunSocket;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  connect(params: readonly (readonly [string, string])[], events: ClientSocketEvents): ClientSocket {
    const connection = new Connection(events);
    const { attachUrl, ticket, stage = () => undefined } = this.#options;
    stage("waiting for an access token");
    this.#options.token().then(
      (token) => {
        const url = new URL(attachUrl);
        for (const [name, value] of params) url.searchParams.append(name, value);
        this.#dial(connection, { url, token, ticket, stage });
      },
      (error: unknown) => {
        // Without a connection yet there is nothing to wait for. Later it may be the network that a fresh token needs.
        const code = this.#hasBeenOpen ? CLOSE.tryLater : CLOSE.policy;
        if (!(error instanceof CliError)) throw error;
        connection.over(code, error.message);
      },
    );
    return connection;
  }

  /** Resolves when the last connection is closed, or after so many ms. */
  async closed(withinMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenClosed = resolve;
      setTimeout(resolve, withinMs);
    });
  }

  #dial(connection: Connection, wish: LineWish): void {
    if (connection.isOver) return;
    const events = connection.listener(
      () => {
        this.#hasBeenOpen = true;
        wish.stage(`${wish.url.host} has let us in: waiting for the session`);
      },
      () => this.#gone(connection),
    );
    this.#open.add(connection);
    if (!this.#isByBun) {
      void this.#dialByWs(connection, wish, events);
      return;
    }
    const instead = () => {
      this.#gone(connection);
      if (connection.isOver) return;
      this.#isByBun = false;
      this.#dial(connection, wish);
    };
    connection.run(dialByBun(wish, events, instead));
  }

  async #dialByWs(connection: Connection, wish: LineWish, events: LineEvents): Promise<void> {
    const { dialByWs } = await import("./ws-line.ts");
    if (connection.isOver) events.gone();
    else connection.run(dialByWs(wish, events));
  }

  #gone(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#whenClosed?.();
  }
}

class Connection implements ClientSocket {
  readonly #events: ClientSocketEvents;
  #line: Line | undefined;
  #isOver = false;

  constructor(events: ClientSocketEvents) {
    this.#events = events;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The line that it goes over now. */
  run(line: Line): void {
    this.#line = line;
  }

  listener(onOpen: () => void, gone: () => void): LineEvents {
    return {
      open: () => {
        onOpen();
        this.#events.open();
      },
      text: (text) => this.#events.text(text),
      binary: (bytes) => this.#events.binary(bytes),
      closed: (code, detail, retryAfterSeconds) => this.over(code, detail, retryAfterSeconds),
      gone,
    };
  }

  over(code: number, detail: string, retryAfterSeconds = 0): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(code, detail, retryAfterSeconds);
  }

  // ---- ClientSocket --------------------------------------------------------------------------------------------

  send(message: string | Uint8Array): void {
    this.#line?.send(message);
  }

  close(code: number): void {
    this.#isOver = true;
    this.#line?.close(code);
  }

  abort(): void {
    this.#isOver = true;
    this.#line?.terminate();
  }
}
