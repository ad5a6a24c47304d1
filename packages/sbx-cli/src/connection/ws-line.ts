// A connection to `/attach` over the ws package: says what it waits for, and puts what goes wrong into a close code and a phrase.

import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { CLOSE, OUTER_PROTOCOL } from "sandbox-stdio/core";
import WebSocket from "ws";
import { isPrivateAddress } from "../base/endpoint.ts";
import { describeFailure } from "../base/network-words.ts";
import { type Line, type LineEvents, type LineWish, lineHeaders, MAX_MESSAGE_BYTES } from "./line.ts";
import { refusalOf } from "./refusal.ts";

const HANDSHAKE_TIMEOUT_MS = 20_000;
/** Longer is not waited for. */
const MAX_RETRY_AFTER_SECONDS = 300;
const MAX_REFUSAL_BYTES = 8 * 1024;
/** The close code for a server that does not speak the protocol: not one that is come back from. */
const PROTOCOL_ERROR = 1002;

export function dialByWs(wish: LineWish, events: LineEvents): Line {
  const { url, stage } = wish;
  const { host } = url;
  stage(`connecting to ${host}`);
  const socket = new WebSocket(url, [OUTER_PROTOCOL], {
    headers: lineHeaders(wish),
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    // A mask keeps bytes from looking like HTTP to machines in between that don't know WebSockets (RFC 6455, 10.3). Where none
    // sees them, a mask of zeros spares a copy here, and the server the taking off.
    ...(isPrivateAddress(url) ? { generateMask: (key: Buffer) => void key.fill(0) } : {}),
    finishRequest: (request) => {
      request.once("socket", (connection) => followStages(connection, url, stage));
      request.end();
    },
  });
  listen(socket, host, events);
  return {
    send: (message) => socket.send(message),
    close: (code) => {
      if (socket.readyState === WebSocket.OPEN) socket.close(code);
      else socket.terminate();
    },
    terminate: () => socket.terminate(),
  };
}

function listen(socket: WebSocket, host: string, events: LineEvents): void {
  let failure: Error | undefined;
  socket.on("open", () => events.open());
  socket.on("message", (message, isBinary) => {
    if (!Buffer.isBuffer(message)) throw new TypeError("Cannot read a message that is no Buffer");
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
    if (failure === undefined)
      events.closed(code, reason.toString("utf8") || (code === 1006 ? "the connection broke" : ""));
    else if (/subprotocol|Sec-WebSocket|Upgrade header/.test(failure.message)) {
      events.closed(PROTOCOL_ERROR, `${host} does not speak ${OUTER_PROTOCOL}: ${failure.message}`);
    } else events.closed(1006, describeFailure(failure, host));
    events.gone();
  });
}

/** What a connection waits for that is not there yet: its name, the network, TLS, an answer. */
function followStages(socket: Socket, { hostname, host, protocol }: URL, stage: (words: string) => void): void {
  if (isIP(hostname.replace(/^\[|\]$/g, "")) === 0) stage(`looking up the name ${hostname}`);
  socket.once("lookup", () => stage(`connecting to ${host}`));
  const answer = `connected to ${host}: waiting for its answer`;
  socket.once("connect", () => stage(protocol === "wss:" ? `connected to ${host}: waiting for TLS` : answer));
  socket.once("secureConnect", () => stage(answer));
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
