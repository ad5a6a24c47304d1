// Tracks each client's presence as it attaches, loses its connection and leaves, and tells other clients, keyboard and upstream.

import type { Attempt } from "../wire/attempt.ts";
import {
  CLOSE,
  MAX_UNACKED_INPUT_BYTES,
  PROGRAM_GRACE_MS,
  PUT_ASIDE_GRACE_MS,
  RESUME_GRACE_MS,
  TOLD_EXIT_GRACE_MS,
} from "../wire/constants.ts";
import { chooseAnswerer } from "./answerer.ts";
import { announceHolder } from "./asks.ts";
import { ClientRecord, type ClientWho, type TerminalSize } from "./client-record.ts";
import { distinctName } from "./names.ts";
import type { Peer, Presence } from "./presence.ts";
import type { SessionState } from "./session-state.ts";

/** What a client supplies on attach. */
export type Arrival = ClientWho & {
  readonly id: string;
  readonly size?: TerminalSize;
  readonly attempt?: Attempt;
};

/** Registers the client with this presence, and closes its previous connection, if any. */
export function admit(session: SessionState, arrival: Arrival, presence: Presence): ClientRecord {
  const { clients, keyboard, upstream, hop } = session;
  const old = clients.get(arrival.id);
  const { peer: replaced, attempt: lastAttempt } = old ?? {};
  const wasPresent = old?.isPresent === true;
  const who = { ...arrival, ...namesOf(session, arrival, old) };
  const order = wasPresent ? old.order : clients.nextOrder();
  const client = old ?? new ClientRecord(arrival.id, hop.newInput());
  client.attach(who, order, presence);
  client.size = arrival.size ?? client.size;
  client.attempt = arrival.attempt ?? lastAttempt;
  if (session.creator === "" && client.role === "driver") session.creator = client.id;
  client.inputWindow = inputWindowOf(session, client, arrival.keeps);
  // The client itself learns this from its greeting.
  if (!wasPresent) clients.tellAll({ type: "join", participant: client.participant });
  clients.add(client);
  if (replaced !== undefined) dismissReplaced(replaced, lastAttempt, arrival.attempt);
  const { holder } = keyboard;
  keyboard.join(client);
  // Announce the client first: the bridge rejects an unknown holder.
  upstream.attached(client);
  if (holder !== "" && keyboard.holder !== holder) announceHolder(session);
  else if (keyboard.holder !== holder) upstream.holder(keyboard.holder);
  hop.membersChanged();
  return client;
}

/** Only the creator gets a larger window, to keep the total of waiting input small. */
function inputWindowOf({ facts, creator }: SessionState, client: ClientRecord, keeps = 0): number {
  const { inputWindow: most = MAX_UNACKED_INPUT_BYTES } = facts;
  const mayHaveMore = client.id === creator && client.role === "driver" && client.acknowledges;
  return mayHaveMore ? Math.max(MAX_UNACKED_INPUT_BYTES, Math.min(keeps, most)) : MAX_UNACKED_INPUT_BYTES;
}

type Names = Pick<ClientWho, "name" | "personName">;

/** The names of a client and its person. A returning client keeps its own, unless another client took it meanwhile. */
function namesOf({ clients }: SessionState, arrival: ClientWho, old: ClientRecord | undefined): Names {
  const { login } = arrival;
  const others = [...clients.present()].filter((client) => client !== old);
  const isWindow = (client: ClientRecord) => login !== undefined && client.login === login;
  const persons = others.filter((client) => !isWindow(client)).map((client) => client.personName ?? "");
  const taken = [...others.map((client) => client.name), ...persons];
  const kept = old?.isPresent ? old.name : undefined;
  const name = kept ?? distinctName(old?.name || arrival.name, taken);
  if (login === undefined) return { name, personName: undefined };
  const known = arrival.personName ?? others.find(isWindow)?.personName;
  return { name, personName: known ?? distinctName(old?.personName ?? kept ?? arrival.name, taken) };
}

/** The client closed with 1000 and gives up its place. */
export function leave(session: SessionState, client: ClientRecord): void {
  if (client.presence.phase === "gone") return;
  session.pace.noteHeld(client);
  session.clients.remove(client);
  depart(session, client, "left");
}

/**
 * The connection ended some other way. The client keeps its place for the grace period if it ever took part, or if `isSure`
 * that only the connection broke.
 */
export function vanish(session: SessionState, client: ClientRecord, isSure = false): void {
  if (!client.isAttached) return;
  if (!client.canResume) {
    leave(session, client);
    return;
  }
  client.feed.clear();
  loseConnection(session, client, false);
  if (!client.isActive && !isSure) expire(session, client);
  else if (session.ending === undefined) chooseAnswerer(session);
}

/** The client was told the exit. It may return for lost bytes, but nothing waits for it. */
export function finish(session: SessionState, client: ClientRecord): void {
  vanish(session, client, true);
  shortenGrace(client, TOLD_EXIT_GRACE_MS);
}

function shortenGrace(client: ClientRecord, graceMs: number): void {
  if (client.presence.phase === "vanished") client.presence = { ...client.presence, graceMs };
}

/**
 * The client's connection has ended. Its waiting input is still accepted, unless the process takes none for the length of a
 * grace period.
 */
export function disconnect(session: SessionState, client: ClientRecord, how: "left" | "vanished" | "put aside"): void {
  if (!client.feed.isEmpty && client.isAttached) {
    loseConnection(session, client, how === "left" || !client.canResume);
    chooseAnswerer(session);
  } else if (how === "left") leave(session, client);
  else vanish(session, client);
  if (how === "put aside") shortenGrace(client, PUT_ASIDE_GRACE_MS);
}

/** Bridge only: the session object has parked. It will return with this client; other clients are not told. */
export function park(session: SessionState, client: ClientRecord, graceMs: number): void {
  loseConnection(session, client, false);
  shortenGrace(client, graceMs);
}

function loseConnection({ now }: SessionState, client: ClientRecord, isLeaving: boolean): void {
  const { acked, windowBytes } = client;
  client.presence = { phase: "vanished", sinceMs: now(), acked, windowBytes, isLeaving };
}

/** More of the client's waiting input was accepted. */
export function fed(session: SessionState, client: ClientRecord): void {
  const { presence } = client;
  if (presence.phase !== "vanished") return;
  client.presence = { ...presence, sinceMs: session.now() };
  if (presence.isLeaving && client.feed.isEmpty) leave(session, client);
}

/** The grace period has passed: tells the others that the client left, and remembers the position of its input. */
export function expire(session: SessionState, client: ClientRecord): void {
  if (!client.isPresent) return;
  session.pace.noteHeld(client);
  client.presence = { phase: "absent", acked: client.acked };
  depart(session, client, "vanished");
  session.clients.forgetAbsent();
}

function depart(session: SessionState, client: ClientRecord, how: "left" | "vanished"): void {
  const { clients, keyboard, upstream, hop } = session;
  client.feed.clear();
  const wasFreed = keyboard.leave(client.id, client.isActive);
  // A client that never took part may leave before its greeting. The next client is then the first.
  if (!client.isActive && session.creator === client.id) session.creator = "";
  // After the exit all clients leave, so departures are not announced.
  if (session.ending === undefined) {
    clients.tellAll({ type: "leave", id: client.id });
    if (wasFreed) announceHolder(session);
    chooseAnswerer(session);
    hop.membersChanged();
  }
  upstream.departed(client, how);
}

/** Closes a client that violates the protocol. */
export function refuse(session: SessionState, client: ClientRecord, code: number, reason: string): void {
  if (client.peer === undefined) client.tell({ type: "bye", code, reason, retry: "never" });
  else client.peer.bye(code, reason, "never");
  leave(session, client);
}

/** When the client's place expires; undefined if it does not. */
export function graceEndMs({ presence, isProgram }: ClientRecord): number | undefined {
  if (presence.phase === "vanished") {
    return presence.sinceMs + (presence.graceMs ?? (isProgram ? PROGRAM_GRACE_MS : RESUME_GRACE_MS));
  }
  return presence.phase === "calling" && presence.calls === 0 ? presence.sinceMs + PROGRAM_GRACE_MS : undefined;
}

export function tickGrace(session: SessionState, client: ClientRecord, now: number): void {
  if ((graceEndMs(client) ?? Number.POSITIVE_INFINITY) > now) return;
  if (client.presence.phase === "vanished" && client.presence.isLeaving) leave(session, client);
  else expire(session, client);
}

/** Adopts the holder from the other end of the inner hop. An unknown id means that the keyboard is free. */
export function setHolder(session: SessionState, told: string, isLent: boolean): void {
  const { keyboard, clients } = session;
  const id = clients.has(told) ? told : "";
  if (keyboard.holder === id && keyboard.isLent === isLent) return;
  keyboard.setHolder(id, isLent);
  announceHolder(session);
}

/** Closes the previous connection of a client that made a newer one. */
function dismissReplaced(peer: Peer, last: Attempt | undefined, attempt: Attempt | undefined): void {
  // One of the two is a copy, and nothing shows which: the client reconnects.
  const isCopy = attempt !== undefined && last?.life === attempt.life && last.number === attempt.number;
  if (isCopy) peer.bye(CLOSE.conflict, "replaced by a copy of its own handshake", "now");
  else peer.bye(CLOSE.conflict, "replaced by a newer connection", "never");
}
