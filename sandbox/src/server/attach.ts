// One attach to the bridge: finds or starts its session, and opens its WebSocket. A session object has the inner hop; a client without
// a subprotocol has plain frames.

import type { Server, ServerWebSocket } from "bun";
import {
  type AttachQuery,
  CLOSE,
  clipUtf8,
  type Dialect,
  httpStatusOf,
  INNER_PROTOCOL,
  InnerServer,
  isName,
  PLAIN,
  PLAIN_TEXT,
  parseAttachQuery,
  placeOf,
  ServerConnection,
  type ServerSocket,
  tracedReceiver,
  tracedSocket,
} from "sandbox-stdio/core";
import { refuse, type SocketData } from "../base/http.ts";
import type { SessionHost } from "../session/host.ts";
import { codeOf, type Registry } from "./registry.ts";

/** If a socket has more than this queued, output waits for it to drain. */
const HIGH_WATER_BYTES = 256 * 1024;
const NAME_LENGTH = 20;

/** @returns undefined if the request was upgraded. */
export function attach(
  request: Request,
  url: URL,
  server: Server<SocketData>,
  registry: Registry,
): Response | undefined {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return refuse(426, "upgrade_required", "/attach is a WebSocket");
  }
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const isObject = offered.includes(INNER_PROTOCOL);
  if (!isObject && offered.some((name) => name !== "")) {
    return refuse(400, "bad_request", `none of the subprotocols ${offered.join(", ")} is supported`);
  }
  const found = find(url.searchParams, registry, isObject);
  if (!found.ok) return refuse(httpStatusOf(found.code), found.error, found.detail);
  const { host, query } = found;
  if (isObject && (query.offset ?? 0) > host.session.log.endOffset) {
    return refuse(400, "bad_request", `offset ${query.offset} is beyond the log`);
  }
  const plain = url.searchParams.get("text") === "1" ? PLAIN_TEXT : PLAIN;
  const data = isObject ? innerSocket(host, query.offset) : plainSocket(host, query, plain);
  const headers: Record<string, string> = isObject ? { "sec-websocket-protocol": INNER_PROTOCOL } : {};
  if (server.upgrade(request, { data, headers })) return undefined;
  return refuse(400, "bad_request", "not a WebSocket upgrade");
}

type Found =
  | { readonly ok: true; readonly host: SessionHost; readonly query: AttachQuery }
  | { readonly ok: false; readonly code: number; readonly error: string; readonly detail: string };

/** @param isObject Whether a session object attaches: only it may name an offset. */
function find(params: URLSearchParams, registry: Registry, isObject: boolean): Found {
  const bad = (detail: string): Found => ({ ok: false, code: CLOSE.badRequest, error: "bad_request", detail });
  const parsed = parseAttachQuery(params);
  if (!parsed.ok) return bad(parsed.detail);
  const { query } = parsed;
  const label = params.get("label") ?? query.sandbox;
  if (!isName(label)) return bad('"label" is not a name');
  const names = { sandbox: query.sandbox, label, session: query.session ?? freshName() };
  if (query.resume !== undefined) return bad("clients can't resume at the bridge itself");
  if (query.offset !== undefined && query.offset !== 0 && !isObject) {
    return bad('"offset" other than 0 is for session objects');
  }
  const incarnation = params.get("incarnation") ?? undefined;
  const mayStart = params.get("create") !== "0" && query.role === "driver";
  const found = registry.findOrStart(names, query, incarnation, mayStart);
  if (!found.ok) return { ok: false, code: codeOf(found.fault), error: found.fault, detail: found.detail };
  return { ok: true, host: found.host, query };
}

/** A random name: of a session that was given none, or of a client. */
function freshName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, NAME_LENGTH);
}

/** Numbers clients' connections in traces. */
let connections = 0;

/** The socket of a client with plain frames. */
function plainSocket(host: SessionHost, query: AttachQuery, dialect: Dialect): SocketData {
  const data: SocketData = {
    open: (socket) => {
      const { trace } = host;
      const name = `#${++connections}`;
      trace?.(`opens ${name} ${dialect.name} role=${query.role}`);
      const connection = new ServerConnection(
        dialect,
        tracedSocket(socketOf(socket), trace, name, "server"),
        performance.now(),
      );
      host.addConnection(connection);
      const receive = (frame: string | Uint8Array) => {
        connection.receive(frame, performance.now());
        host.changedSoon();
      };
      data.receive = tracedReceiver(receive, trace, name, "client");
      data.drained = () => connection.drained();
      data.closed = (code) => {
        trace?.(`${name} has closed with ${code}`);
        connection.closed(code);
        host.removeConnection(connection);
      };
      connection.attach(host.session, {
        id: freshName(),
        name: query.name,
        role: query.role,
        isAdmin: true, // A client that knows the bridge's secret owns the sandbox.
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

/** The socket of a session object. @param asked The offset that it goes on from. */
function innerSocket(host: SessionHost, asked: number | undefined): SocketData {
  const data: SocketData = {
    open: (socket) => {
      const { trace } = host;
      const seen = tracedSocket(socketOf(socket), trace, "object", "bridge");
      const inner = new InnerServer(host.session, seen, performance.now(), host.questions);
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
      // 0: it is closing, and `close` follows; -1: queued, and `drain` follows once it is out.
      socket.send(frame);
    },
    close: (code, reason) => socket.close(code, clipUtf8(reason, 123)),
    isWritable: () => socket.getBufferedAmount() < HIGH_WATER_BYTES,
  };
}

function ignore(): void {
  // The socket is not open yet.
}
