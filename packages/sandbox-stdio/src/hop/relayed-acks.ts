// Which acknowledgements the session object passes on to the bridge. A message costs the bridge more than its bytes: acknowledgements
// that may lead the flow go in steps, the others rarely.

import type { ClientRecord } from "../session/client-record.ts";
import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import { type HopState, sendCommand } from "./hop-state.ts";

/** Well below the bytes that a flow leader may have in flight. */
const LEADER_ACK_BYTES = 2 * MAX_FRAME_BYTES;
/** The step of clients that decide nothing. */
const LAZY_ACK_BYTES = 4 * MAX_FRAME_BYTES;

/** A new connection: nothing has been sent on it. */
export function clearAcks({ acks }: HopState): void {
  acks.sent.clear();
  acks.reduced.clear();
  acks.pressure = "none";
}

/** The bridge hears of the client, and with it of the client's position. */
export function noteAttached(hop: HopState, client: ClientRecord): void {
  note(hop, client, { offset: client.acked, window: client.windowBytes });
}

export function forgetAcks({ acks }: HopState, clientId: string): void {
  acks.sent.delete(clientId);
  acks.reduced.delete(clientId);
}

/** The client has processed more output, or its window has changed: passes that on if it matters. */
export function relayAck(hop: HopState, client: ClientRecord): void {
  const pace = hop.session?.pace;
  if (pace === undefined) return;
  const { acks } = hop;
  const leader = pace.update();
  const last = acks.sent.get(client.id);
  const { offset, window } = pace.effective(client);
  // The slowest lossless driver leads, and the bridge can tell which one that is only if it knows of all.
  const mayLead = client === leader || isLosslessDriver(client);
  // The bridge counts with the window that it knows.
  const step = mayLead ? Math.min(LEADER_ACK_BYTES, window / 4, (last?.window ?? window) / 4) : LAZY_ACK_BYTES;
  if (last === undefined || offset - last.offset >= Math.max(1, step)) sendAck(hop, client);
  if (client !== leader || leader.id !== acks.leader || pace.pressure !== acks.pressure) relayLeader(hop);
}

/** Output has come, and other clients may be further behind now: tells the bridge if it should read less ahead. */
export function relayPressure(hop: HopState): void {
  const pace = hop.session?.pace;
  pace?.update();
  if (pace !== undefined && pace.pressure !== hop.acks.pressure) relayLeader(hop);
}

/**
 * The flow leader may have changed. The bridge must know the position of the new one, or it waits for the one before, and holds the
 * process for ever.
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
