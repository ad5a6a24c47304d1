// Previews: a browser's request for a server on this machine's loopback. The Worker prefixes its headers, so that headers for the
// bridge and headers for the server never mix.

import type { Server, ServerWebSocket } from "bun";
import { clipUtf8, PREVIEW_LEAD, PREVIEW_PREFIX, serverOrigin } from "sandbox-stdio/core";
import { refuse, type SocketData } from "../base/http.ts";
import { answered, type ServerCall } from "./http.ts";

/** @returns undefined if the request was upgraded. */
export async function preview(request: Request, url: URL, server: Server<SocketData>): Promise<Response | undefined> {
  const port = Number(url.searchParams.get("port"));
  const path = url.searchParams.get("path") ?? "";
  const method = url.searchParams.get("method") ?? "GET";
  if (!Number.isInteger(port) || port < 1 || port > 65_535 || !path.startsWith("/") || !/^[A-Z]{1,20}$/.test(method)) {
    return refuse(400, "bad_request", 'need "port", "path" and "method"');
  }
  if (port === server.port) return refuse(403, "forbidden", "the bridge can't be previewed");
  const host = await listening(port);
  if (host === undefined) return refuse(422, "connection_refused", `nothing listens on port ${port}`);
  const call = { host, port, path, method, headers: headersOf(request, port) };
  if (request.headers.get("upgrade")?.toLowerCase() === "websocket") return openServerSocket(request, call, server);
  // An answer may begin late, and a stream of events may be silent for long.
  server.timeout(request, 0);
  return answered(request, call, url.searchParams.has(PREVIEW_LEAD));
}

/** The loopback address at which a server listens: often it is only one of the two. */
async function listening(port: number): Promise<string | undefined> {
  for (const hostname of ["127.0.0.1", "::1"]) {
    try {
      const socket = await Bun.connect({ hostname, port, socket: { data: () => undefined } });
      socket.end();
      return hostname;
    } catch {
      // Nothing listens there.
    }
  }
  return undefined;
}

function headersOf(request: Request, port: number): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of request.headers) {
    if (name.startsWith(PREVIEW_PREFIX)) headers.set(name.slice(PREVIEW_PREFIX.length), value);
  }
  return headers.set("host", new URL(serverOrigin(port)).host);
}

const OPEN_TIMEOUT_MS = 10_000;
/** Beyond this the connection is given up: the server takes less than the browser sends. */
const MAX_QUEUE_BYTES = 16 * 1024 * 1024;
const [NORMAL, GOING_AWAY, NO_CODE, BROKEN, POLICY] = [1000, 1001, 1005, 1006, 1008];

type Message = string | ArrayBuffer;

/** @returns undefined once the request is upgraded. */
async function openServerSocket(
  request: Request,
  call: ServerCall,
  server: Server<SocketData>,
): Promise<Response | undefined> {
  const upstream = await opened(call);
  if (upstream === undefined) {
    return refuse(422, "bad_answer", `the server on port ${call.port} does not accept the WebSocket`);
  }
  const { protocol } = upstream.socket;
  const headers: Record<string, string> = protocol === "" ? {} : { "sec-websocket-protocol": protocol };
  if (server.upgrade(request, { data: passing(upstream), headers })) return undefined;
  upstream.socket.close();
  return refuse(400, "bad_request", "not a WebSocket upgrade");
}

type Upstream = { readonly socket: WebSocket; readonly early: Message[] };

/** @returns undefined if the server does not accept it. */
async function opened({ host, port, path, headers }: ServerCall): Promise<Upstream | undefined> {
  const rest = new Map(headers);
  rest.delete("sec-websocket-protocol");
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const protocols = offered.filter((name) => name !== "");
  const authority = host.includes(":") ? `[${host}]` : host;
  const socket = new WebSocket(`ws://${authority}:${port}${path}`, { headers: Object.fromEntries(rest), protocols });
  socket.binaryType = "arraybuffer";
  const early: Message[] = [];
  socket.onmessage = ({ data }) => early.push(data as Message);
  const isOpen = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), OPEN_TIMEOUT_MS);
    const settle = (is: boolean) => {
      clearTimeout(timer);
      resolve(is);
    };
    socket.onopen = () => settle(true);
    socket.onclose = () => settle(false);
    socket.onerror = () => settle(false);
  });
  if (isOpen) return { socket, early };
  socket.close();
  return undefined;
}

function passing({ socket: upstream, early }: Upstream): SocketData {
  return {
    open: (socket: ServerWebSocket<SocketData>) => {
      for (const message of early) socket.send(message);
      upstream.onmessage = ({ data }) => void socket.send(data as Message);
      upstream.onerror = () => undefined; // Its close follows.
      upstream.onclose = ({ code, reason }) => socket.close(sendable(code), clipUtf8(reason, 123));
      if (upstream.readyState !== WebSocket.OPEN) socket.close(GOING_AWAY);
    },
    receive: (frame) => {
      if (upstream.readyState !== WebSocket.OPEN) return;
      // Copied, since Bun may reuse the memory of the view.
      upstream.send(typeof frame === "string" ? frame : new Uint8Array(frame));
      if (upstream.bufferedAmount > MAX_QUEUE_BYTES) upstream.close(POLICY, "the server reads too slowly");
    },
    drained: () => undefined,
    closed: (code) => upstream.close(sendable(code)),
  };
}

/** 1005 and 1006 stand for a missing code and can't be sent, and neither can other codes of the protocol itself. */
function sendable(code: number): number {
  if (code === NO_CODE) return NORMAL;
  return code === BROKEN || (code < 3000 && code !== NORMAL) ? GOING_AWAY : code;
}
