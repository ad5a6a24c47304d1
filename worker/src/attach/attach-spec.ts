// The Worker's message to the session's Durable Object about an upgrade that it let through. Made from nothing: no header,
// cookie or query string of the client is passed on.

import type { AttachQuery } from "sandbox-stdio/core";
import type { Actor } from "../audit/record.ts";
import type { IdleKind } from "../limits/limits.ts";
import type { Answering } from "../refusal/refusal.ts";
import type { Pass } from "./entry-limits.ts";
import type { Grant } from "./grant.ts";

export type AttachSpec = Answering & {
  /** The container's name, and the bridge's name for the sandbox. */
  readonly sandboxKey: string;
  readonly session: string;
  /** A new session's process is the query's, with this command where the query names none. */
  readonly query: AttachQuery;
  readonly command?: readonly [string, ...string[]];
  /** The line that the query's shell reads, if the client has asked for that alone. */
  readonly line?: string;
  /** The limits of this connection; absent: the usual ones. */
  readonly limits?: IdleKind;
  /** Whether a new session is forgotten once it has ended and no client is left. */
  readonly isTransient: boolean;
  /** A ttyd that runs in the sandbox, in place of a session of ours. */
  readonly upstream?: "ttyd";
  readonly who: Grant;
  /** The actor in the audit. */
  readonly actor: Actor;
  readonly pass: Pass;
};

const HEADER = "x-attach";

/** The request to the Durable Object. */
export function requestOf(spec: AttachSpec): Request {
  const headers = { Upgrade: "websocket", [HEADER]: asciiJson(spec) };
  return new Request("http://session/attach", { headers });
}

/** Only the Worker reaches a Durable Object, so the object trusts the header. */
export function specOf(request: Request): AttachSpec {
  return JSON.parse(request.headers.get(HEADER) ?? "null") as AttachSpec;
}

/** JSON that a header can hold: every other character as its escape, which JSON has for all of them. */
export function asciiJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}
