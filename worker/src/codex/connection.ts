// One connection of a codex client: its messages, each answered by its id, and what it is told without asking. Knows no processes.

import { CodexError, ERROR, MAX_MESSAGE_BYTES, parseMessage, type RequestId } from "sandbox-stdio/codex";
import { clipUtf8 } from "sandbox-stdio/core";
import type { CodexSpec } from "../attach/codex-spec.ts";
import { log } from "../base/log.ts";
import type { Bounded } from "../sockets/lifetimes.ts";

const NORMAL = 1000;
const POLICY = 1008;
/** Requests of one connection that are not answered yet. */
const MAX_OPEN = 1_024;
/** More that waits in the socket holds the output back. */
const HIGH_WATER_BYTES = 512 * 1024;
const LOOK_MS = 20;
const MAX_REASON_BYTES = 120;

export interface CodexHandler {
  /** @returns The result. @throws {CodexError} */
  request(connection: CodexConnection, method: string, params: unknown): Promise<object>;
  /** The answer to a request was sent. */
  answered(connection: CodexConnection): void;
  ended(connection: CodexConnection): void;
}

export class CodexConnection implements Bounded {
  isEnded = false;
  readonly spec: CodexSpec;
  /** The id of its session, once it is initialized. */
  session: string | undefined;
  /** Whether it is told what its session's processes say. */
  isTelling = false;
  readonly #gone = new AbortController();
  readonly #socket: WebSocket;
  readonly #handler: CodexHandler;
  #open = 0;

  constructor(socket: WebSocket, spec: CodexSpec, handler: CodexHandler) {
    this.#socket = socket;
    this.spec = spec;
    this.#handler = handler;
    socket.accept();
    socket.addEventListener("message", ({ data }) => this.#received(data as string | ArrayBuffer));
    socket.addEventListener("close", () => this.#end());
    socket.addEventListener("error", () => this.#end());
  }

  /** Aborted at its end. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  notify(method: string, params: object): void {
    this.#say({ method, params });
  }

  /** Resolves once the client may be sent more, or is gone. */
  async room(): Promise<void> {
    const waiting = () => (this.#socket as { bufferedAmount?: number }).bufferedAmount ?? 0;
    while (!this.isEnded && waiting() > HIGH_WATER_BYTES) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  /** Its bearer may not go on: the ticket or token has ended. */
  dismiss(_code: number, reason: string): void {
    this.close(POLICY, reason);
  }

  /** Another connection has taken its session over. */
  replace(): void {
    this.close(NORMAL, "replaced by a newer connection");
  }

  close(code: number, reason: string): void {
    if (this.isEnded) return;
    try {
      this.#socket.close(code, clipUtf8(reason, MAX_REASON_BYTES));
    } catch {
      // It closed just now.
    }
    this.#end();
  }

  #received(data: string | ArrayBuffer): void {
    if (this.isEnded) return;
    if (typeof data !== "string") {
      this.close(POLICY, "a message must be text");
      return;
    }
    if (data.length > MAX_MESSAGE_BYTES) {
      this.close(POLICY, `a message has at most ${MAX_MESSAGE_BYTES} bytes`);
      return;
    }
    const message = parseMessage(data);
    if (message === undefined) this.close(POLICY, "a message must be JSON");
    else if (message.kind === "invalid") {
      this.#fail(null, new CodexError(ERROR.invalidRequest, "a request has an id and a method"));
    } else if (message.kind === "request") void this.#answer(message.id, message.method, message.params);
  }

  async #answer(id: RequestId, method: string, params: unknown): Promise<void> {
    if (this.#open >= MAX_OPEN) {
      this.#fail(id, new CodexError(ERROR.failed, `${MAX_OPEN} requests are not answered yet`));
      return;
    }
    this.#open += 1;
    try {
      const result = await this.#handler.request(this, method, params);
      this.#say({ id, result });
      this.#handler.answered(this);
    } catch (error) {
      // What is asked for a client that has gone is given up.
      const isOurs = !(error instanceof CodexError) && !this.isEnded;
      if (isOurs) log.error(`a codex client's ${method.slice(0, 64)} failed:`, error);
      this.#fail(id, error instanceof CodexError ? error : new CodexError(ERROR.failed, "it failed here: try again"));
    } finally {
      this.#open -= 1;
    }
  }

  #fail(id: RequestId | null, { code, message }: CodexError): void {
    this.#say({ id, error: { code, message } });
  }

  #say(message: object): void {
    if (this.isEnded) return;
    try {
      this.#socket.send(JSON.stringify(message));
    } catch {
      this.#end();
    }
  }

  #end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#gone.abort();
    this.#handler.ended(this);
  }
}
