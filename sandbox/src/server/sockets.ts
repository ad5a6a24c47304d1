// The bridge's WebSockets as Bun has them: one for each plain client, and one for each inner hop.

import type { ServerWebSocket } from "bun";
import {
  type AttachQuery,
  clipUtf8,
  type Dialect,
  InnerServer,
  placeOf,
  ServerConnection,
  type ServerSocket,
  tracedReceiver,
  tracedSocket,
} from "sandbox-stdio/core";
import { freshName } from "../base/fresh-name.ts";
import type { SocketData } from "../base/http.ts";
import type { SessionHost } from "../session/host.ts";

/** Where a socket has more than this queued, output waits for it to drain. */
const HIGH_WATER_BYTES = 256 * 1024;

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
