// The Worker's message to the session's Durable Object about an accepted upgrade. No header, cookie or query string of the
// client is passed on.

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
  /** A new session's process is the query's, with `command` if the query names none. */
  readonly query: AttachQuery;
  readonly command?: readonly [string, ...string[]];
  /** The command line for the query's shell, if the client asked only for that. */
  readonly line?: string;
  /** The limits of this connection. Default: those of an interactive client. */
  readonly limits?: IdleKind;
  /** Whether a new session is forgotten once it has ended and no client is left. */
  readonly isTransient: boolean;
  /** Relays to a ttyd in the sandbox instead of a session. */
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

/** JSON that fits into a header: non-ASCII characters are escaped. */
export function asciiJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}
