// A WebSocket to `/attach` over the ws package: reports what it is waiting for, and maps failures to a close code and a reason.

import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { CLOSE, type ClientSocketEvents, defined, OUTER_PROTOCOL } from "sandbox-stdio/core";
import WebSocket from "ws";
import { isPrivateAddress } from "../base/endpoint.ts";
import { describeFailure } from "../base/network-errors.ts";
import { watchOwnAddress } from "./own-address.ts";
import { refusalOf } from "./refusal.ts";

const HANDSHAKE_TIMEOUT_MS = 20_000;
/** Larger than any frame or message of the protocol. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_RETRY_AFTER_SECONDS = 300;
const MAX_REFUSAL_BYTES = 8 * 1024;
/** Close code for a server that does not speak the protocol: the client does not retry. */
const PROTOCOL_ERROR = 1002;

/** For a route other than `/attach`: no subprotocol, and WebSocket pings, which every server answers. */
export type OtherDialect = {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly pingMs: number;
};

export type DialOptions = {
  readonly url: URL;
  readonly token: string | undefined;
  readonly ticket: string | undefined;
  /** Receives what the pending connection is waiting for. */
  readonly stage: (text: string) => void;
  readonly other?: OtherDialect | undefined;
};

export interface SocketEvents extends ClientSocketEvents {
  /** The socket holds no system resources any more. Follows `closed`, which may be reported twice: the first counts. */
  gone(): void;
}

export interface OpenSocket {
  send(message: string | Uint8Array): void;
  /** Closes with a handshake if the connection is open. */
  close(code: number): void;
  terminate(): void;
}

export function dial(options: DialOptions, events: SocketEvents): OpenSocket {
  const { url, token, ticket, stage, other } = options;
  const { host } = url;
  stage(`connecting to ${host}`);
  const socket = new WebSocket(url, other === undefined ? [OUTER_PROTOCOL] : [], {
    // Not in the URL, which servers log.
    headers: defined({
      Authorization: token === undefined ? undefined : `Bearer ${token}`,
      "X-Stdio-Ticket": ticket,
      ...other?.headers,
    }),
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: other?.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    // Masks protect proxies that don't know WebSockets (RFC 6455, 10.3). With none in between, a zero mask saves both ends a pass.
    ...defined({ generateMask: isPrivateAddress(url) ? (key: Buffer) => void key.fill(0) : undefined }),
    finishRequest: (request) => {
      request.once("socket", (connection) => followStages(connection, url, stage));
      request.end();
    },
  });
  listen(socket, host, events);
  if (other !== undefined) keepPinged(socket, other.pingMs);
  let hasMoved = (): boolean => false;
  socket.on("upgrade", (response) => {
    hasMoved = watchOwnAddress(response.socket);
  });
  return {
    send: (message) => {
      // The client sends it again on the next connection.
      if (!hasMoved()) socket.send(message);
      else {
        queueMicrotask(() => events.closed(1006, "this machine's address has changed"));
        socket.terminate();
      }
    },
    close: (code) => {
      if (socket.readyState === WebSocket.OPEN) socket.close(code);
      else socket.terminate();
    },
    terminate: () => socket.terminate(),
  };
}

/** Terminates a socket that has received nothing since the last ping. */
function keepPinged(socket: WebSocket, everyMs: number): void {
  let isHeard = true;
  const pinging = setInterval(() => {
    if (!isHeard) socket.terminate();
    else if (socket.readyState === WebSocket.OPEN) socket.ping();
    isHeard = socket.readyState !== WebSocket.OPEN;
  }, everyMs);
  for (const event of ["message", "pong"]) {
    socket.on(event, () => {
      isHeard = true;
    });
  }
  socket.on("close", () => clearInterval(pinging));
}

function listen(socket: WebSocket, host: string, events: SocketEvents): void {
  let failure: Error | undefined;
  socket.on("open", () => events.open());
  socket.on("message", (message, isBinary) => {
    if (!Buffer.isBuffer(message)) throw new TypeError("Cannot read a message that is not a Buffer");
    if (isBinary) events.binary(message);
    else events.text(message.toString("utf8"));
  });
  socket.on("unexpected-response", (_request: ClientRequest, response: IncomingMessage) => {
    void readRefusal(response).then(({ code, detail }) => {
      events.closed(code, detail, retryAfterSeconds(response));
      socket.terminate();
    });
  });
  socket.on("error", (error) => {
    failure = error;
  });
  socket.on("close", (code, reason) => {
    if (failure === undefined) {
      events.closed(code, reason.toString("utf8") || (code === 1006 ? "connection reset" : ""));
    } else if (/subprotocol|Sec-WebSocket|Upgrade header/.test(failure.message)) {
      events.closed(PROTOCOL_ERROR, `${host} does not speak ${OUTER_PROTOCOL}: ${failure.message}`);
    } else events.closed(1006, describeFailure(failure, host));
    events.gone();
  });
}

/** Reports each step of the handshake: DNS, TCP, TLS, HTTP. */
function followStages(socket: Socket, { hostname, host, protocol }: URL, stage: (words: string) => void): void {
  if (isIP(hostname.replace(/^\[|\]$/g, "")) === 0) stage(`looking up ${hostname}`);
  socket.once("lookup", () => stage(`connecting to ${host}`));
  const answer = `connected to ${host}: waiting for a response`;
  socket.once("connect", () => stage(protocol === "wss:" ? `connected to ${host}: waiting for TLS` : answer));
  socket.once("secureConnect", () => stage(answer));
}

/** Maps an HTTP response to the upgrade to a close code and a reason. */
async function readRefusal(response: IncomingMessage): Promise<{ code: number; detail: string }> {
  const status = response.statusCode ?? 0;
  const body = await readStart(response);
  const { message } = refusalOf(body);
  const name = `HTTP ${status}${response.statusMessage ? ` ${response.statusMessage}` : ""}`;
  if (status >= 300 && status < 400) {
    const target = response.headers.location;
    return { code: 4000 + status, detail: `redirected (${name})${target ? `: ${target}` : ""}` };
  }
  // A proxy's own failures are worth a retry; its refusals of the request are not.
  if (status >= 500 && status !== 503)
    return { code: CLOSE.internal, detail: message ?? `the server answered ${name}` };
  return { code: 4000 + status, detail: message ?? `the server answered ${name}` };
}

/** Seconds of Retry-After; 0 for none or a date, which depends on clocks. */
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
    // The response was cut off: use what arrived.
  }
  return Buffer.concat(chunks).toString("utf8");
}
