// One attach to the bridge: its session, and the kind of its WebSocket.

import type { Server } from "bun";
import {
  type AttachQuery,
  CLOSE,
  httpStatusOf,
  INNER_PROTOCOL,
  isName,
  OUTER_PROTOCOL,
  PLAIN,
  PLAIN_TEXT,
  parseAttachQuery,
  STDIO,
} from "sandbox-stdio/core";
import type { SessionHost } from "./host.ts";
import { freshName, readProof } from "./proofs.ts";
import { codeOf, refuse } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import type { BridgeSettings } from "./settings.ts";
import { innerSocket, outerSocket, refusal, type SocketData } from "./sockets.ts";

/** @returns undefined if the request was upgraded. */
export function attach(
  request: Request,
  url: URL,
  server: Server<SocketData>,
  settings: BridgeSettings,
  registry: Registry,
): Response | undefined {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return refuse(426, "upgrade_required", "/attach is a WebSocket");
  }
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const protocol = [INNER_PROTOCOL, OUTER_PROTOCOL].find((name) => offered.includes(name));
  if (protocol === undefined && offered.some((name) => name !== "")) {
    return refuse(400, "bad_request", `no subprotocol of ${offered.join(", ")} is spoken here`);
  }
  const accept = (data: SocketData): Response | undefined => {
    const headers: Record<string, string> = protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
    if (server.upgrade(request, { data, headers })) return undefined;
    return refuse(400, "bad_request", "this is not a WebSocket upgrade");
  };
  /** A `stdio.v1` client can't see an HTTP refusal: it is accepted, told, and closed. */
  const turnAway = (code: number, error: string, detail: string): Response | undefined => {
    if (protocol !== OUTER_PROTOCOL) return refuse(httpStatusOf(code), error, detail);
    return accept(refusal(code, error === "bad_request" || code === CLOSE.notFound ? detail : `${error}: ${detail}`));
  };

  if (protocol === INNER_PROTOCOL) {
    const found = find(url.searchParams, settings, registry, true);
    if (!found.ok) return turnAway(found.code, found.error, found.detail);
    const { host, query } = found;
    if ((query.offset ?? 0) > host.session.log.endOffset) {
      return refuse(400, "bad_request", `offset ${query.offset} is beyond the log`);
    }
    return accept(innerSocket(host, query.offset));
  }
  const found = find(url.searchParams, settings, registry);
  if (!found.ok) return turnAway(found.code, found.error, found.detail);
  const { host, query, proof } = found;
  const plain = url.searchParams.get("text") === "1" ? PLAIN_TEXT : PLAIN;
  const dialect = protocol === OUTER_PROTOCOL ? STDIO : plain;
  return accept(outerSocket(host, query, proof?.client, dialect, settings.token));
}

type Found =
  | {
      readonly ok: true;
      readonly host: SessionHost;
      readonly query: AttachQuery;
      readonly proof: ReturnType<typeof readProof>;
    }
  | { readonly ok: false; readonly code: number; readonly error: string; readonly detail: string };

/** @param isObject Whether a session object asks: it says by itself where it goes on. */
function find(params: URLSearchParams, settings: BridgeSettings, registry: Registry, isObject = false): Found {
  const bad = (detail: string): Found => ({ ok: false, code: CLOSE.badRequest, error: "bad_request", detail });
  const parsed = parseAttachQuery(params);
  if (!parsed.ok) return bad(parsed.detail);
  const { query } = parsed;
  const label = params.get("label") ?? query.sandbox;
  if (!isName(label)) return bad('"label" is not a name');
  const names = { sandbox: query.sandbox, label, session: query.session ?? freshName() };
  const incarnation = params.get("incarnation") ?? undefined;
  const proof = query.resume === undefined ? undefined : readProof(query.resume, settings.token);
  if (query.resume !== undefined && proof === undefined) return bad('"resume" is not one that this bridge gave');
  if (query.offset !== undefined && query.offset !== 0 && proof === undefined && !isObject) {
    return bad('"offset" other than 0 needs a "resume"');
  }
  const mayStart = params.get("create") !== "0" && query.role === "driver";
  const found = registry.findOrStart(names, query, incarnation ?? proof?.incarnation, mayStart);
  if (!found.ok) return { ok: false, code: codeOf(found.fault), error: found.fault, detail: found.detail };
  return { ok: true, host: found.host, query, proof };
}
