// The state that is stored with a client's socket while its session sleeps: the next session object reads it.

import type { ParkedClient, ParkedConnection } from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { KeptWatch } from "../sockets/watches.ts";

/** The parts of an upgrade that still count once its client is attached. */
export type KeptSpec = Pick<AttachSpec, "dialect" | "who" | "actor" | "pass" | "limits"> & {
  readonly query: Pick<AttachSpec["query"], "role">;
};

export type Kept = {
  /** The parking that it is of: the remains of an earlier one count for nothing. */
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

/** The state that was kept with a socket in this parking, if there is any. */
export function keptWith(socket: WebSocket, epoch: string): Kept | undefined {
  const kept = socket.deserializeAttachment() as Kept | null;
  return kept?.epoch === epoch ? kept : undefined;
}
