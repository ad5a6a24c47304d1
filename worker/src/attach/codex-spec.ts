// The Worker's message to the object of a sandbox's codex clients about an accepted upgrade.

import type { Actor } from "../audit/record.ts";
import type { Tenant } from "../auth/names.ts";
import { asciiJson } from "./attach-spec.ts";
import type { Pass } from "./entry-limits.ts";
import type { Grant } from "./grant.ts";

/** What the tickets of a sandbox's codex clients open, among the tickets of its object. */
export const CODEX = "codex";

export type CodexSpec = {
  readonly tenant: Tenant;
  readonly sandbox: string;
  readonly sandboxKey: string;
  readonly who: Grant;
  readonly actor: Actor;
  readonly pass: Pass;
  /** Whether its output is fetched, and not told. */
  readonly fetches: boolean;
  /** The person in the words of the Project Service, if it was asked. */
  readonly user: string | undefined;
};

/** Where a client's processes are, and as whom they are ended: without its rights, which are not stored. */
export type CodexPlace = Pick<CodexSpec, "tenant" | "sandbox" | "user" | "actor">;

const HEADER = "x-codex";

export function codexRequest(spec: CodexSpec): Request {
  return new Request("http://session/codex", { headers: { Upgrade: "websocket", [HEADER]: asciiJson(spec) } });
}

/** @returns undefined where the request is of another kind. */
export function codexSpecOf(request: Request): CodexSpec | undefined {
  // Only the Worker reaches a Durable Object, so the object trusts the header.
  const spec = new URL(request.url).pathname === "/codex" ? request.headers.get(HEADER) : null;
  return spec === null ? undefined : (JSON.parse(spec) as CodexSpec);
}
