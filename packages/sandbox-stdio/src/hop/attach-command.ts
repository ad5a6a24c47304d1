// How the bridge is told of a client.

import type { ClientRecord } from "../session/client-record.ts";
import type { InnerCommand } from "../wire/inner-messages.ts";

/** @param slot The number that stands for it in frames of input on this connection. */
export function attachOf(client: ClientRecord, slot: number): Extract<InnerCommand, { type: "attach" }> {
  return {
    type: "attach",
    client: client.id,
    slot,
    name: client.name,
    role: client.role,
    kind: client.kind,
    admin: client.isAdmin,
    delivery: client.delivery,
    acknowledges: client.acknowledges,
    ...(client.holdsAlone ? { alone: true } : {}),
    acked: client.acked,
    window: client.windowBytes,
    ...(client.size ?? {}),
  };
}
