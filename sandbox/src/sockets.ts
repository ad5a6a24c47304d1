// The bridge's WebSockets as Bun has them: one for each plain client, and one for each inner hop.

import type { ServerWebSocket, WebSocketHandler } from "bun";
import {
  type AttachQuery,
  clipUtf8,
  type Dialect,
  InnerServer,
  MAX_FED_FRAME_BYTES,
  placeOf,
  ServerConnection,
  type ServerSocket,
  tracedReceiver,
  tracedSocket,
} from "sandbox-stdio/core";
import { freshName } from "./fresh-name.ts";
import type { SessionHost } from "./host.ts";

/** Beyond this Bun would drop messages; output stops far below, so that only a fault can reach it. */
const QUEUE_LIMIT_BYTES = 64 * 1024 * 1024;
/** More than any client may send at once: a message that is too long is refused with the code of its dialect. */
const MAX_MESSAGE_BYTES = MAX_FED_FRAME_BYTES + 1024 * 1024;
/** Where a socket has more than this queued, output waits for it to drain. */
const HIGH_WATER_BYTES = 256 * 1024;

/** The purpose of a socket: set before its upgrade, carried out when it opens. */
export type SocketData = {
  readonly open: (socket: ServerWebSocket<SocketData>) => void;
  receive: (frame: string | Uint8Array) => void;
  drained: () => void;
  closed: (code: number) => void;
};

/** What Bun does with a socket: its purpose. */
export const websocket: WebSocketHandler<SocketData> = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  backpressureLimit: QUEUE_LIMIT_BYTES,
  closeOnBackpressureLimit: true,
  perMessageDeflate: false,
  idleTimeout: 60,
  open: (socket) => socket.data.open(socket),
  message: (socket, message) => socket.data.receive(message),
  drain: (socket) => socket.data.drained(),
  close: (socket, code) => socket.data.closed(code),
};

/** Numbers clients' connections in traces. */
let connections = 0;

/** A client of the seed's protocol. */
export function plainSocket(host: SessionHost, query: AttachQuery, dialect: Dialect): SocketData {
  const data: SocketData = {
    open: (socket) => {
      const { trace } = host;
      const whom = `#${++connections}`;
      trace?.(`opens ${whom} ${dialect.name} role=${query.role}`);
      const seen = tracedSocket(socketOf(socket), trace, whom, "server");
      const connection = new ServerConnection(dialect, seen, performance.now());
      host.addConnection(connection);
      const receive = (frame: string | Uint8Array) => {
        connection.receive(frame, performance.now());
        host.changedSoon();
      };
      data.receive = tracedReceiver(receive, trace, whom, "client");
      data.drained = () => connection.drained();
      data.closed = (code) => {
        trace?.(`${whom} has closed with ${code}`);
        connection.closed(code);
        host.removeConnection(connection);
      };
      connection.attach(host.session, {
        id: freshName(),
        name: query.name,
        role: query.role,
        isAdmin: true, // A party that knows the bridge's secret owns the sandbox.
        delivery: query.delivery,
        acknowledges: dialect.acknowledges,
        canResume: false,
        isResume: false,
        resume: "",
        ...placeOf(query),
      });
      host.changed();
    },
    receive: ignore,
    drained: ignore,
    closed: ignore,
  };
  return data;
}

/** A session object. @param asked The offset that it goes on from. */
export function innerSocket(host: SessionHost, asked: number | undefined): SocketData {
  const data: SocketData = {
    open: (socket) => {
      const { trace } = host;
      const seen = tracedSocket(socketOf(socket), trace, "object", "bridge");
      const inner = new InnerServer(host.session, seen, performance.now(), host.ports);
      const receive = (frame: string | Uint8Array) => {
        inner.receive(frame, performance.now());
        host.changedSoon();
      };
      data.receive = tracedReceiver(receive, trace, "object", "object");
      data.drained = () => inner.drained();
      data.closed = (code) => {
        trace?.(`object has closed with ${code}`);
        inner.closed(code);
        host.removeInner(inner);
      };
      host.setInner(inner, asked);
    },
    receive: ignore,
    drained: ignore,
    closed: ignore,
  };
  return data;
}

function socketOf(socket: ServerWebSocket<SocketData>): ServerSocket {
  return {
    send: (frame) => {
      // 0: it is closing, and `close` will say so; -1: queued, and `drain` will say when it is out.
      socket.send(frame);
    },
    close: (code, reason) => socket.close(code, clipUtf8(reason, 123)),
    isWritable: () => socket.getBufferedAmount() < HIGH_WATER_BYTES,
  };
}

function ignore(): void {
  // The socket is not open yet.
}
