// One connection of a codex client: its messages, each answered by its id, and what it is told without asking. Its socket outlives the
// object, with what is needed to go on written down beside it. Knows no processes.

import {
  CodexError,
  type CodexRequest,
  ERROR,
  MAX_MESSAGE_BYTES,
  parseMessage,
  type RequestId,
} from "sandbox-stdio/codex";
import { clipUtf8, utf8Length } from "sandbox-stdio/core";
import type { CodexSpec } from "../attach/codex-spec.ts";
import { log } from "../base/log.ts";
import { queuedBytes, quietly } from "../sockets/client-sockets.ts";
import type { Bounded } from "../sockets/lifetimes.ts";

const POLICY = 1008;
/** Requests of one connection that are not answered yet. */
const MAX_OPEN = 1_024;
/** Characters of them together, beside one. */
const MAX_OPEN_LENGTH = 8 * 1024 * 1024;
/** More that waits in the socket holds the output back: what is lost on the way is asked for again, and must still be in the log. */
const HIGH_WATER_BYTES = 64 * 1024;
/** The runtime has no event for room in a socket: only while there is none it is looked for. */
const LOOK_MS = 20;
const MAX_REASON_BYTES = 120;

/** What stands with the socket. */
export type KeptConnection = { readonly spec: CodexSpec; readonly session: string | undefined };

export interface CodexHandler {
  /** @returns The result. @throws {CodexError} */
  request(connection: CodexConnection, method: string, params: unknown): Promise<object>;
  /** A client that has a session says something. */
  heard(connection: CodexConnection): void;
  /** A request was answered. */
  answered(): void;
  ended(connection: CodexConnection): void;
}

export class CodexConnection implements Bounded {
  isEnded = false;
  readonly spec: CodexSpec;
  /** Whether it is told what its session's processes say. */
  isTelling = false;
  /** The id of its session, once it is initialized. */
  #session: string | undefined;
  readonly #gone = new AbortController();
  readonly #socket: WebSocket;
  readonly #handler: CodexHandler;
  #open = 0;
  #openLength = 0;

  constructor(socket: WebSocket, { spec, session }: KeptConnection, handler: CodexHandler) {
    this.#socket = socket;
    this.spec = spec;
    this.#session = session;
    this.#handler = handler;
  }

  /** Aborted at its end. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** Whether a request is not answered yet. */
  get isBusy(): boolean {
    return this.#open > 0;
  }

  /** Assigns the connection to a session from here on, also in later lives of this object. */
  keep(session: string | undefined): void {
    this.#session = session;
    const kept: KeptConnection = { spec: this.spec, session };
    try {
      this.#socket.serializeAttachment(kept);
    } catch (error) {
      log.warn("a codex client has to connect again after a restart: its state can't be written down:", error);
    }
  }

  notify(method: string, params: object): void {
    this.#say({ method, params });
  }

  /** Resolves once it may be told more, or is gone. */
  async room(): Promise<void> {
    while (!this.isEnded && queuedBytes(this.#socket) > HIGH_WATER_BYTES) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Its bearer may not go on: the ticket or token has ended. */
  dismiss(_code: number, reason: string): void {
    this.close(POLICY, reason);
  }

  close(code: number, reason: string): void {
    if (this.isEnded) return;
    quietly(() => this.#socket.serializeAttachment(null));
    quietly(() => this.#socket.close(code, clipUtf8(reason, MAX_REASON_BYTES)));
    this.end();
  }

  received(data: string | ArrayBuffer): void {
    if (this.isEnded) return;
    if (typeof data !== "string") {
      this.close(POLICY, "a message must be text");
      return;
    }
    if (data.length > MAX_MESSAGE_BYTES || utf8Length(data) > MAX_MESSAGE_BYTES) {
      this.close(POLICY, `a message has at most ${MAX_MESSAGE_BYTES} bytes`);
      return;
    }
    const message = parseMessage(data);
    if (this.#session !== undefined) this.#handler.heard(this);
    if (message === undefined) this.close(POLICY, "a message must be JSON");
    else if (message.kind === "invalid") {
      this.#fail(null, new CodexError(ERROR.invalidRequest, "a request has an id and a method"));
    } else if (message.kind === "request") void this.#answer(message, data.length);
  }

  async #answer({ id, method, params }: CodexRequest, length: number): Promise<void> {
    if (this.#open >= MAX_OPEN || (this.#open > 0 && this.#openLength + length > MAX_OPEN_LENGTH)) {
      this.#fail(id, new CodexError(ERROR.failed, "too much is not answered yet: wait for answers first"));
      return;
    }
    this.#open += 1;
    this.#openLength += length;
    try {
      const result = await this.#handler.request(this, method, params);
      this.#say({ id, result });
    } catch (error) {
      // What is asked for a client that has gone is given up.
      const isOurs = !(error instanceof CodexError) && !this.isEnded;
      if (isOurs) log.error(`a codex client's ${method.slice(0, 64)} failed:`, error);
      this.#fail(id, error instanceof CodexError ? error : new CodexError(ERROR.failed, "it failed here: try again"));
    } finally {
      this.#open -= 1;
      this.#openLength -= length;
      this.#handler.answered();
    }
  }

  #fail(id: RequestId | null, { code, message }: CodexError): void {
    this.#say({ id, error: { code, message } });
  }

  #say(message: object): void {
    if (!this.isEnded) quietly(() => this.#socket.send(JSON.stringify(message)));
  }

  /** The connection has closed, or is closed by this side. */
  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#gone.abort();
    this.#handler.ended(this);
  }
}
