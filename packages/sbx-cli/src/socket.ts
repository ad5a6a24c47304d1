// One WebSocket after another to `/attach`, over the ws package: sends token and ticket in headers, and puts what goes wrong into
// a close code and a phrase. Knows nothing of the messages on them.

import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { CLOSE, type ClientSocket, type ClientSocketEvents, OUTER_PROTOCOL } from "sandbox-stdio/core";
import WebSocket from "ws";
import { describeFailure } from "./network-words.ts";
import { CliError } from "./outcome.ts";
import { oneLine } from "./plain-text.ts";

/** A server keeps a session for so long without a client: then there is nothing to come back to. */
export const GIVE_UP_SECONDS = 1_800;
const HANDSHAKE_TIMEOUT_MS = 20_000;
/** Larger than any frame or message of the protocol. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Longer is not waited for. */
const MAX_RETRY_AFTER_SECONDS = 300;
const MAX_REFUSAL_BYTES = 8 * 1024;
/** The close code for a server that does not speak the protocol: not one that is come back from. */
const PROTOCOL_ERROR = 1002;

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
  readonly #open = new Set<WebSocket>();
  #whenClosed: (() => void) | undefined;
  #hasBeenOpen = false;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  connect(params: readonly (readonly [string, string])[], events: ClientSocketEvents): ClientSocket {
    const connection = new Connection(events);
    const stage = this.#options.stage ?? (() => undefined);
    stage("waiting for an access token");
    this.#options.token().then(
      (token) => {
        if (connection.isOver) return;
        const url = new URL(this.#options.attachUrl);
        for (const [name, value] of params) url.searchParams.append(name, value);
        const socket = dial(url, token, this.#options.ticket, stage);
        this.#track(socket);
        connection.run(socket, url.host);
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

  #track(socket: WebSocket): void {
    this.#open.add(socket);
    socket.once("open", () => {
      this.#hasBeenOpen = true;
    });
    socket.once("close", () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) this.#whenClosed?.();
    });
  }
}

/** Both in headers: addresses are logged. */
function dial(
  url: URL,
  token: string | undefined,
  ticket: string | undefined,
  stage: (words: string) => void,
): WebSocket {
  stage(`connecting to ${url.host}`);
  const socket = new WebSocket(url, [OUTER_PROTOCOL], {
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(ticket === undefined ? {} : { "X-Stdio-Ticket": ticket }),
    },
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    finishRequest: (request) => {
      request.once("socket", (connection) => followStages(connection, url, stage));
      request.end();
    },
  });
  socket.once("open", () => stage(`${url.host} has let us in: waiting for the session`));
  return socket;
}

/** What a connection waits for that is not there yet: its name, the network, TLS, an answer. */
function followStages(socket: Socket, { hostname, host, protocol }: URL, stage: (words: string) => void): void {
  if (isIP(hostname.replace(/^\[|\]$/g, "")) === 0) stage(`looking up the name ${hostname}`);
  socket.once("lookup", () => stage(`connecting to ${host}`));
  const answer = `connected to ${host}: waiting for its answer`;
  socket.once("connect", () => stage(protocol === "wss:" ? `connected to ${host}: waiting for TLS` : answer));
  socket.once("secureConnect", () => stage(answer));
}

class Connection implements ClientSocket {
  readonly #events: ClientSocketEvents;
  #socket: WebSocket | undefined;
  #isOver = false;

  constructor(events: ClientSocketEvents) {
    this.#events = events;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  run(socket: WebSocket, host: string): void {
    this.#socket = socket;
    let failure: Error | undefined;
    socket.on("open", () => this.#events.open());
    socket.on("message", (message, isBinary) => {
      if (!Buffer.isBuffer(message)) throw new TypeError("Cannot read a message that is no Buffer");
      if (isBinary) this.#events.binary(message);
      else this.#events.text(message.toString("utf8"));
    });
    socket.on("unexpected-response", (_request: ClientRequest, response: IncomingMessage) => {
      void readRefusal(response).then(({ code, detail }) => {
        this.over(code, detail, retryAfterSeconds(response));
        socket.terminate();
      });
    });
    socket.on("error", (error) => {
      failure = error;
    });
    socket.on("close", (code, reason) => {
      if (failure === undefined)
        this.over(code, reason.toString("utf8") || (code === 1006 ? "the connection broke" : ""));
      else if (/subprotocol|Sec-WebSocket|Upgrade header/.test(failure.message)) {
        this.over(PROTOCOL_ERROR, `${host} does not speak ${OUTER_PROTOCOL}: ${failure.message}`);
      } else this.over(1006, describeFailure(failure, host));
    });
  }

  over(code: number, detail: string, retryAfterSeconds = 0): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.closed(code, detail, retryAfterSeconds);
  }

  // ---- ClientSocket --------------------------------------------------------------------------------------------

  send(message: string | Uint8Array): void {
    this.#socket?.send(message);
  }

  close(code: number): void {
    this.#isOver = true;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close(code);
    else this.#socket?.terminate();
  }

  abort(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }
}

/** Reads an HTTP answer to an upgrade: a close code that means the same, and a phrase. */
async function readRefusal(response: IncomingMessage): Promise<{ code: number; detail: string }> {
  const status = response.statusCode ?? 0;
  const body = await readStart(response);
  const said = refusalOf(body).message;
  const name = `HTTP ${status}${response.statusMessage ? ` ${response.statusMessage}` : ""}`;
  if (status >= 300 && status < 400) {
    const target = response.headers.location;
    return { code: 4000 + status, detail: `the server is elsewhere (${name})${target ? `: ${target}` : ""}` };
  }
  // A proxy's own faults pass; what it says of a request that will be repeated as it is does not.
  if (status >= 500 && status !== 503) return { code: CLOSE.internal, detail: said ?? `the server answered ${name}` };
  return { code: 4000 + status, detail: said ?? `the server answered ${name}` };
}

/** The wait that the answer asks for, in seconds; 0 for none. A date is taken for nothing: clocks differ. */
function retryAfterSeconds({ headers }: IncomingMessage): number {
  const seconds = Number(headers["retry-after"] ?? 0);
  return seconds > 0 && seconds <= MAX_RETRY_AFTER_SECONDS ? seconds : 0;
}

async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  response.setTimeout(HANDSHAKE_TIMEOUT_MS, () => response.destroy());
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // It broke off: the part that has come is used.
  }
  return Buffer.concat(chunks).toString("utf8");
}

export type Refusal = { readonly code?: string | undefined; readonly message?: string | undefined };

/** A refusal `{"error","message"}`, each on one line. */
export function refusalOf(body: string): Refusal {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // A page for people, from something in between.
    return {};
  }
  if (typeof value !== "object" || value === null) return {};
  const { error, message } = value as { error?: unknown; message?: unknown };
  const code = textOf(error);
  return { code, message: textOf(message) ?? code };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? oneLine(value) : undefined;
}
