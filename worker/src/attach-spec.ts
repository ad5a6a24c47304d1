// What the Worker tells the session's Durable Object about an upgrade that it let through. Made from nothing: no header,
// cookie or query string of the client is passed on.

import type { AttachQuery } from "@sbx/sandbox-stdio";
import type { Grant } from "./grant.ts";

export type DialectName = "stdio" | "plain";

export type AttachSpec = {
  /** The container's name, and the bridge's name for the sandbox. */
  readonly sandboxKey: string;
  readonly session: string;
  readonly dialect: DialectName;
  readonly query: AttachQuery;
  readonly who: Grant;
};

const HEADER = "x-attach";

/** The request to the Durable Object. */
export function requestOf(spec: AttachSpec): Request {
  const headers = { Upgrade: "websocket", [HEADER]: encodeURIComponent(JSON.stringify(spec)) };
  return new Request("http://session/attach", { headers });
}

/** Only the Worker reaches a Durable Object, so what it says is taken as said. */
export function specOf(request: Request): AttachSpec {
  return JSON.parse(decodeURIComponent(request.headers.get(HEADER) ?? "null")) as AttachSpec;
}
