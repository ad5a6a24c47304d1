// Synchronizes log, clients and keyboard between session object and bridge when the inner hop is back. The session object resends
// all unconfirmed input (H4, H5, H8).

import type { InputEntry } from "../input/input-queue.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { RelaySession } from "../session/relay-session.ts";
import { sendAnswerer, sendAttach, sendHolder, sendInput } from "./bridge-upstream.ts";
import { type HopState, type InnerHello, sendCommand } from "./hop-state.ts";

/**
 * @param isContinued Whether the session existed before this greeting, and so knows which clients have left. A new session
 *   must trust the greeting.
 */
export function reconcile(hop: HopState, session: RelaySession, hello: InnerHello, isContinued: boolean): void {
  session.continueAt(hello.offset, { cols: hello.cols, rows: hello.rows });
  session.noteEnd(hello.live);
  session.lastOutputMs = hello.lastOutputMs ?? session.lastOutputMs;
  // Before the bridge learns which clients have left, or it would answer from there on, not from the earlier offset.
  const hasClients = hello.clients.some(({ isAbsent }) => !isAbsent);
  session.announceAnswerer((answerer) => sendAnswerer(hop, answerer), hasClients);
  compareClients(hop, session, hello, isContinued);
  session.checkHolder();
  const present = [...session.clients].filter((client) => client.isPresent);
  for (const client of present) sendAttach(hop, client);
  resendInput(hop, session, present);
}

/** Drops clients at the bridge that have left here, and restores its other clients here, with its count of their input. */
function compareClients(hop: HopState, session: RelaySession, hello: InnerHello, isContinued: boolean): void {
  for (const id of hello.gone ?? []) session.noteGone(id);
  for (const known of hello.clients) {
    const client = session.client(known.id);
    const hasLeft = client === undefined && (isContinued || session.gone.has(known.id));
    // Clients without acknowledgements rarely reconnect: give up their places at once. They may still resume.
    const isAbsent = client === undefined ? known.acknowledges === false : client.presence.phase === "absent";
    if (hasLeft) sendCommand(hop, { type: "detach", client: known.id, how: "left" });
    else session.restore(isAbsent ? { ...known, isAbsent } : known);
    if (!hasLeft && isAbsent && !known.isAbsent)
      sendCommand(hop, { type: "detach", client: known.id, how: "vanished" });
  }
}

/** Resends input. Where not everybody may type, each piece goes as from the client that held the keyboard when it was typed. */
function resendInput(hop: HopState, { keyboard }: RelaySession, clients: readonly ClientRecord[]): void {
  const { holder } = keyboard;
  const isOfViewer = ({ role, input }: ClientRecord) =>
    role === "viewer" && input.entries.some(({ kind }) => kind !== "refused");
  const isExclusive = keyboard.isExclusive || clients.some(isOfViewer);
  // Announce the holder before its input, which would be refused otherwise. Input from before a handover needs its old holder.
  let announced = isExclusive ? undefined : holder;
  if (announced !== undefined) sendHolder(hop, announced);
  for (const { client, entry } of byTurn(clients)) {
    if (isExclusive && entry.kind !== "refused" && announced !== client.id) {
      announced = client.id;
      sendHolder(hop, announced);
    }
    sendInput(hop, client, entry);
  }
  if (announced !== holder) sendHolder(hop, holder);
}

type Waiting = { readonly client: ClientRecord; readonly entry: InputEntry; readonly turn: number };

/** All waiting input by keyboard turn, keeping each client's order. */
function byTurn(clients: readonly ClientRecord[]): Waiting[] {
  const waiting = clients.flatMap((client) => {
    let turn = 0;
    return client.input.entries.map((entry) => {
      if (entry.kind === "bytes") turn = entry.turn;
      return { client, entry, turn };
    });
  });
  return waiting.sort((a, b) => a.turn - b.turn);
}
