// Commands in flight to the bridge: the answer to the ping after each shows that it has arrived. If the hop breaks first, clients
// whose pane orders may be lost are told (B8).

import type { ClientRecord } from "../session/client-record.ts";
import { PANE_LOST, type PaneOrder } from "../wire/pane-messages.ts";
import { type HopState, sendCommand } from "./hop-state.ts";

/** Beyond this, the oldest orders are forgotten. A bridge that answers no ping is given up long before. */
const MAX_UNANSWERED = 4_096;

export function sendOrder(hop: HopState, client: ClientRecord, order: PaneOrder): void {
  sendCommand(hop, { type: "pane", client: client.id, order: JSON.stringify(order) });
  note(hop, client);
  sendPing(hop);
}

/** @param onArrival Called once all earlier commands have arrived; never if the hop breaks first. */
export function confirmArrival(hop: HopState, onArrival: () => void): void {
  note(hop, onArrival);
  sendPing(hop);
}

export function sendPing(hop: HopState): void {
  sendCommand(hop, { type: "ping" });
  note(hop, undefined);
}

/** The oldest ping was answered: the commands before it have arrived. */
export function pongArrived({ unanswered }: HopState): void {
  for (const one of unanswered.splice(0, unanswered.indexOf(undefined) + 1)) if (typeof one === "function") one();
}

/** The hop broke: reports the orders as lost. */
export function failOrders({ unanswered }: HopState): void {
  for (const one of unanswered.splice(0)) if (typeof one === "object") one.tell(PANE_LOST);
}

function note({ unanswered }: HopState, one: HopState["unanswered"][number]): void {
  unanswered.push(one);
  if (unanswered.length <= MAX_UNANSWERED) return;
  // Forget only orders: each ping is answered, and callbacks must be called.
  const oldest = unanswered.findIndex((other) => typeof other === "object");
  if (oldest >= 0) unanswered.splice(oldest, 1);
}
