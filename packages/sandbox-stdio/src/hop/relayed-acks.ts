// Decides which acknowledgements the session object relays to the bridge. A message costs more than its bytes, so possible flow
// leaders' go in steps, and others rarely.

import type { ClientRecord } from "../session/client-record.ts";
import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import { type HopState, sendCommand } from "./hop-state.ts";

/** Well below a flow leader's window. */
const LEADER_ACK_BYTES = 2 * MAX_FRAME_BYTES;
/** Step for clients that can't be the flow leader. */
const LAZY_ACK_BYTES = 4 * MAX_FRAME_BYTES;

/** Resets the state for a new connection. */
export function clearAcks({ acks }: HopState): void {
  acks.sent.clear();
  acks.reduced.clear();
  acks.pressure = "none";
}

/** The bridge learns of the client and its position by an `attach`. */
export function noteAttached(hop: HopState, client: ClientRecord): void {
  note(hop, client, { offset: client.acked, window: client.windowBytes });
}

export function forgetAcks({ acks }: HopState, clientId: string): void {
  acks.sent.delete(clientId);
  acks.reduced.delete(clientId);
}

/** The client has processed more output, or its window has changed: relays that if it matters. */
export function relayAck(hop: HopState, client: ClientRecord): void {
  const pace = hop.session?.pace;
  if (pace === undefined) return;
  const { acks } = hop;
  const leader = pace.update();
  const last = acks.sent.get(client.id);
  const { offset, window } = pace.effective(client);
  // The slowest lossless driver leads, which the bridge can only tell if it knows of all.
  const mayLead = client === leader || isLosslessDriver(client);
  // The bridge computes with the window it was last sent.
  const step = mayLead ? Math.min(LEADER_ACK_BYTES, window / 4, (last?.window ?? window) / 4) : LAZY_ACK_BYTES;
  if (last === undefined || offset - last.offset >= Math.max(1, step)) sendAck(hop, client);
  if (client !== leader || leader.id !== acks.leader || pace.pressure !== acks.pressure) relayLeader(hop);
}

/** Output has arrived, so other clients may be further behind: tells the bridge if it should read less ahead. */
export function relayPressure(hop: HopState): void {
  const pace = hop.session?.pace;
  pace?.update();
  if (pace !== undefined && pace.pressure !== hop.acks.pressure) relayLeader(hop);
}

/**
 * The flow leader may have changed. The bridge must know the new one's position, or it waits for the old one and holds the
 * process forever.
 */
export function relayLeader(hop: HopState): void {
  const { acks } = hop;
  const pace = hop.session?.pace;
  const leader = pace?.update();
  acks.leader = leader?.id;
  acks.pressure = pace?.pressure ?? "none";
  if (pace === undefined || leader === undefined) return;
  for (const client of new Set([leader, ...acks.reduced.values()])) {
    const sent = acks.sent.get(client.id);
    const due = pace.effective(client);
    if (sent?.offset !== due.offset || sent.window !== due.window) sendAck(hop, client);
  }
}

function sendAck(hop: HopState, client: ClientRecord): void {
  const position = hop.session?.pace.effective(client) ?? { offset: client.acked, window: client.windowBytes };
  note(hop, client, position);
  sendCommand(hop, { type: "ack", client: client.id, ...position });
}

function note(
  { acks }: HopState,
  client: ClientRecord,
  { offset, window }: { readonly offset: number; readonly window: number },
): void {
  acks.sent.set(client.id, { offset, window });
  const isReduced = offset < client.acked || window < client.windowBytes;
  if (isReduced && isLosslessDriver(client)) acks.reduced.set(client.id, client);
  else acks.reduced.delete(client.id);
}

function isLosslessDriver({ delivery, role }: ClientRecord): boolean {
  return delivery === "lossless" && role === "driver";
}
