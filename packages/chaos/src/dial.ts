// WebSockets of a run: made through the proxy while they name the real server.

import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { CLOSE, type ClientSocket, type ClientSocketEvents, OUTER_PROTOCOL } from "sandbox-stdio/core";
import WebSocket from "ws";

const HANDSHAKE_TIMEOUT_MS = 20_000;
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** The most of an answer without an upgrade that an error quotes. */
const MAX_SAID_CHARACTERS = 300;

export type Route = {
  /** `http:`, `https:`, `ws:` or `wss:`, up to and with `/attach`. */
  readonly attachUrl: URL;
  readonly token: string;
  /** The proxy's port on loopback. */
  readonly proxyPort: number;
};

/** A WebSocket through the proxy, which names the real server. */
export function openSocket(
  { attachUrl, token, proxyPort }: Route,
  params: Iterable<readonly [string, string]>,
  { path = attachUrl.pathname, protocols = [] as readonly string[] } = {},
): WebSocket {
  const url = new URL(path, attachUrl);
  url.protocol = url.protocol.replace("http", "ws");
  for (const [name, value] of params) url.searchParams.append(name, value);
  return new WebSocket(url, [...protocols], {
    headers: { Authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    // The server's name stays in the request and in the TLS handshake; only the TCP connection goes elsewhere.
    createConnection: () => connectVia(proxyPort, url),
  });
}

/** A client's WebSocket to `/attach`. Knows nothing of the messages. */
export function dial(
  route: Route,
  params: Iterable<readonly [string, string]>,
  events: ClientSocketEvents,
): ClientSocket {
  const socket = openSocket(route, params, { protocols: [OUTER_PROTOCOL] });
  let isOver = false;
  const over = (code: number, detail: string) => {
    if (isOver) return;
    isOver = true;
    events.closed(code, detail);
  };
  let failure = "";
  socket.on("open", () => isOver || events.open());
  socket.on("message", (message: Buffer, isBinary: boolean) => {
    if (isOver) return;
    if (isBinary) events.binary(message);
    else events.text(message.toString("utf8"));
  });
  socket.on("unexpected-response", (_request, response) => {
    const status = response.statusCode ?? 0;
    let said = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      said = `${said}${text}`.slice(0, MAX_SAID_CHARACTERS);
    });
    // Also where it breaks off.
    response.on("close", () => {
      // A proxy's own faults pass.
      over(status >= 500 && status !== 503 ? CLOSE.internal : 4000 + status, `HTTP ${status} ${said.trim()}`);
      socket.terminate();
    });
  });
  socket.on("error", (error) => {
    failure = error.message;
  });
  socket.on("close", (code, reason) => over(failure === "" ? code : 1006, failure || reason.toString("utf8")));
  return {
    send: (message) => socket.send(message, ignore),
    close: (code) => {
      isOver = true;
      if (socket.readyState === WebSocket.OPEN) socket.close(code);
      else socket.terminate();
    },
    abort: () => {
      isOver = true;
      socket.terminate();
    },
  };
}

function connectVia(port: number, url: URL): Socket {
  if (url.protocol === "wss:") return connectTls({ host: "127.0.0.1", port, servername: url.hostname });
  return connectTcp({ host: "127.0.0.1", port, noDelay: true });
}

function ignore(): void {
  // A send that fails is followed by a close.
}
