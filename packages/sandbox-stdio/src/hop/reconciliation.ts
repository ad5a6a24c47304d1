// The steps when the inner hop is back: the session object and the bridge compare the log, the clients and the keyboard.
// The session object sends again all input that the bridge has not confirmed (H4, H5, H8).

import type { InputEntry } from "../input/input-queue.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { RelaySession } from "../session/relay-session.ts";
import { sendAnswerer, sendAttach, sendHolder, sendInput } from "./bridge-upstream.ts";
import { type HopState, type InnerHello, sendCommand } from "./hop-state.ts";

/**
 * @param isContinued Whether the session existed before this greeting. Then it knows which clients have left; a session made from
 *   this greeting has to believe it.
 */
export function reconcile(hop: HopState, session: RelaySession, hello: InnerHello, isContinued: boolean): void {
  session.continueAt(hello.offset, { cols: hello.cols, rows: hello.rows });
  session.noteEnd(hello.live);
  session.lastOutputMs = hello.lastOutputMs ?? session.lastOutputMs;
  // Before the bridge hears which clients have left, or it would answer from there on, and not from where that was.
  const hasClients = hello.clients.some(({ isAbsent }) => !isAbsent);
  session.announceAnswerer((answerer) => sendAnswerer(hop, answerer), hasClients);
  compareClients(hop, session, hello, isContinued);
  session.checkHolder();
  const present = [...session.clients].filter((client) => client.isPresent);
  for (const client of present) sendAttach(hop, client);
  resendInput(hop, session, present);
}

/** The bridge drops clients that have left here. Its other clients are restored here, with its count of their input. */
function compareClients(hop: HopState, session: RelaySession, hello: InnerHello, isContinued: boolean): void {
  for (const id of hello.gone ?? []) session.noteGone(id);
  for (const known of hello.clients) {
    const client = session.client(known.id);
    const hasLeft = client === undefined && (isContinued || session.gone.has(known.id));
    // Clients that acknowledge nothing hardly ever reconnect: give their places up at once. They may resume all the same.
    const isAbsent = client === undefined ? known.acknowledges === false : client.presence.phase === "absent";
    if (hasLeft) sendCommand(hop, { type: "detach", client: known.id, how: "left" });
    else session.restore(isAbsent ? { ...known, isAbsent } : known);
    if (!hasLeft && isAbsent && !known.isAbsent)
      sendCommand(hop, { type: "detach", client: known.id, how: "vanished" });
  }
}

/** Input of an exclusive session goes to the bridge as that of the client that held the keyboard when it was typed. */
function resendInput(hop: HopState, { keyboard }: RelaySession, clients: readonly ClientRecord[]): void {
  const { isExclusive, holder } = keyboard;
  // Before any input: the holder's would be refused. So would input from before a handover: it goes as its holder's.
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

/** All input that waits, in the order of the keyboard's turns; each client's own stays in its order. */
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
