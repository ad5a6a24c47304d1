// The state that is stored with a client's socket while its session sleeps: the next session object reads it.

import type { ParkedClient, ParkedConnection } from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { KeptWatch } from "./watches.ts";

/** What still counts of an upgrade once its client is attached. */
export type KeptSpec = Pick<AttachSpec, "dialect" | "who" | "actor" | "pass" | "limits"> & {
  readonly query: Pick<AttachSpec["query"], "role">;
};

export type Kept = {
  /** Which parking it is of: what is left of an earlier one counts for nothing. */
  readonly epoch: string;
  readonly spec: KeptSpec;
  readonly watch: KeptWatch;
  readonly client: ParkedClient;
  readonly connection: ParkedConnection;
};

export type Survivor = { readonly socket: WebSocket; readonly kept: Kept };

export function keptSpecOf({ dialect, who, actor, pass, limits, query }: AttachSpec): KeptSpec {
  const spec = { dialect, who, actor, pass, query: { role: query.role } };
  return limits === undefined ? spec : { ...spec, limits };
}

/** What was written down with a socket in this parking, if anything was. */
export function keptWith(socket: WebSocket, epoch: string): Kept | undefined {
  const kept = socket.deserializeAttachment() as Kept | null;
  return kept?.epoch === epoch ? kept : undefined;
}
