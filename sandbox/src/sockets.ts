// The bridge's WebSockets as Bun has them: one for each client that attaches directly, and one for each inner hop.

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
import type { SessionHost } from "./host.ts";
import { makeProof, newId } from "./proofs.ts";

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

/** A client, with the proof that it may have shown. @param resumed Its id, if it comes back. */
export function outerSocket(
  host: SessionHost,
  query: AttachQuery,
  resumed: string | undefined,
  dialect: Dialect,
  secret: string,
): SocketData {
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
      const id = resumed ?? newId(host.session, query, secret);
      connection.attach(host.session, {
        id,
        name: query.name,
        role: query.role,
        isAdmin: true, // A party that knows the bridge's secret owns the sandbox.
        delivery: query.delivery,
        acknowledges: dialect.acknowledges,
        isResume: resumed !== undefined,
        resume: makeProof(host.session.facts.incarnation, id, secret),
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

/** A `stdio.v1` client that is told why it is not let in. */
export function refusal(code: number, reason: string): SocketData {
  return {
    open: (socket) => {
      socket.send(JSON.stringify({ type: "bye", code, reason, retry: "never" }));
      socket.close(code, clipUtf8(reason, 123));
    },
    receive: ignore,
    drained: ignore,
    closed: ignore,
  };
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
  // The socket is not open yet, or was turned away.
}
