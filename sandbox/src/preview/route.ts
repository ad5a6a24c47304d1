// Previews: a browser's request for a server on this machine's loopback. The Worker prefixes its headers, so that headers for the
// bridge and headers for the server never mix.

import type { Server } from "bun";
import { PREVIEW_LEAD, PREVIEW_PREFIX, serverOrigin } from "sandbox-stdio/core";
import { refuse, type SocketData } from "../base/http.ts";
import { answered } from "./http.ts";
import { openServerSocket } from "./socket.ts";

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
