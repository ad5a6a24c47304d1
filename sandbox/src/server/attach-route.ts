// One attach to the bridge: its session, and the kind of its WebSocket. A session object has the inner hop; without a subprotocol
// it is the seed's plain client.

import type { Server } from "bun";
import {
  type AttachQuery,
  CLOSE,
  httpStatusOf,
  INNER_PROTOCOL,
  isName,
  PLAIN,
  PLAIN_TEXT,
  parseAttachQuery,
} from "sandbox-stdio/core";
import { freshName } from "../base/fresh-name.ts";
import { refuse, type SocketData } from "../base/http.ts";
import type { SessionHost } from "../session/host.ts";
import { codeOf, type Registry } from "./registry.ts";
import { innerSocket, plainSocket } from "./sockets.ts";

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
    return refuse(400, "bad_request", `no subprotocol of ${offered.join(", ")} is spoken here`);
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
  return refuse(400, "bad_request", "this is not a WebSocket upgrade");
}

type Found =
  | { readonly ok: true; readonly host: SessionHost; readonly query: AttachQuery }
  | { readonly ok: false; readonly code: number; readonly error: string; readonly detail: string };

/** @param isObject Whether a session object asks: it says by itself where it goes on. */
function find(params: URLSearchParams, registry: Registry, isObject: boolean): Found {
  const bad = (detail: string): Found => ({ ok: false, code: CLOSE.badRequest, error: "bad_request", detail });
  const parsed = parseAttachQuery(params);
  if (!parsed.ok) return bad(parsed.detail);
  const { query } = parsed;
  const label = params.get("label") ?? query.sandbox;
  if (!isName(label)) return bad('"label" is not a name');
  const names = { sandbox: query.sandbox, label, session: query.session ?? freshName() };
  if (query.resume !== undefined) return bad("no client resumes at the bridge itself");
  if (query.offset !== undefined && query.offset !== 0 && !isObject) {
    return bad('"offset" other than 0 is for session objects');
  }
  const incarnation = params.get("incarnation") ?? undefined;
  const mayStart = params.get("create") !== "0" && query.role === "driver";
  const found = registry.findOrStart(names, query, incarnation, mayStart);
  if (!found.ok) return { ok: false, code: codeOf(found.fault), error: found.fault, detail: found.detail };
  return { ok: true, host: found.host, query };
}
