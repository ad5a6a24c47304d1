// The steps when the inner hop is back: the session object and the bridge compare the log, the clients and the keyboard.
// The session object sends again all input that the bridge has not confirmed (H4, H5, H8).

import type { InputEntry } from "../input/input-queue.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { RelaySession } from "../session/relay-session.ts";
import type { Upstream } from "../session/session-types.ts";
import type { InnerCommand, InnerMessage } from "../wire/inner-messages.ts";

export type InnerHello = Extract<InnerMessage, { type: "hello" }>;

export interface ReconciliationPorts {
  /** The way to the bridge, which can be told now. */
  readonly upstream: Pick<Upstream, "input" | "holder" | "answerer">;
  /** Tells the bridge of a client. */
  attach(client: ClientRecord): void;
  say(command: InnerCommand): void;
  /**
   * Whether the session was here before this greeting. Then it knows which clients have left; one made from this
   * greeting has to believe it.
   */
  readonly isContinued: boolean;
}

export function reconcile(session: RelaySession, hello: InnerHello, ports: ReconciliationPorts): void {
  session.continueAt(hello.offset, { cols: hello.cols, rows: hello.rows });
  session.noteEnd(hello.live);
  session.lastOutputMs = hello.lastOutputMs ?? session.lastOutputMs;
  // Before the bridge hears which clients have left, or it would answer from there on, and not from where that was.
  const hasClients = hello.clients.some(({ isAbsent }) => !isAbsent);
  session.tellAnswerer(ports.upstream, hasClients);
  compareClients(session, hello, ports);
  session.setHolder(session.keyboard.holder);
  const present = [...session.clients].filter((client) => client.isPresent);
  for (const client of present) ports.attach(client);
  resendInput(session, present, ports.upstream);
}

/** The bridge drops clients that have left here. Its other clients are restored here, with its count of their input. */
function compareClients(session: RelaySession, hello: InnerHello, { say, isContinued }: ReconciliationPorts): void {
  for (const id of hello.gone ?? []) session.noteGone(id);
  for (const known of hello.clients) {
    const client = session.client(known.id);
    const hasLeft = client === undefined && (isContinued || session.gone.has(known.id));
    // Hardly any of these comes back by itself: its place is given up at once, and it may resume all the same.
    const isAbsent = client === undefined ? known.acknowledges === false : client.presence.phase === "absent";
    if (hasLeft) say({ type: "detach", client: known.id, how: "left" });
    else session.restore(isAbsent ? { ...known, isAbsent } : known);
    if (!hasLeft && isAbsent && !known.isAbsent) say({ type: "detach", client: known.id, how: "vanished" });
  }
}

/** Input of an exclusive session goes to the bridge as that of the client that held the keyboard when it was typed. */
function resendInput(
  { keyboard }: RelaySession,
  clients: readonly ClientRecord[],
  upstream: ReconciliationPorts["upstream"],
): void {
  const { isExclusive, holder } = keyboard;
  // Before any input: the holder's would be refused. So would input from before a handover: it goes as its holder's.
  let told = isExclusive ? undefined : holder;
  if (told !== undefined) upstream.holder(told);
  for (const { client, entry } of byTurn(clients)) {
    if (isExclusive && entry.kind !== "refused" && told !== client.id) {
      told = client.id;
      upstream.holder(told);
    }
    upstream.input(client, entry);
  }
  if (told !== holder) upstream.holder(holder);
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
