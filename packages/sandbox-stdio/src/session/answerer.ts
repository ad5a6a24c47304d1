// Which party answers the terminal queries of a session, and from which offset on (K5). The same on both hops: the session object
// chooses among its clients and tells the bridge. The bridge answers if no client does.

import type { Answerer } from "../terminal/answerer-history.ts";
import { isReport } from "../terminal/reports.ts";
import type { ClientRecord } from "./client-record.ts";
import type { SessionState } from "./session-state.ts";

/** How long reports of the previous answerer are accepted after a handover: it was asked before. */
const LATE_REPORT_MS = 2_000;

/** What a parked session keeps of its answerer. */
export type KeptAnswerer = Answerer & { readonly hasChosen: boolean };

/** Whether no late report is accepted any more, and no handover lies ahead. */
export function isAnswererSettled({ answerer, hop, now }: SessionState): boolean {
  const { former, isUnconfirmed, current, answeredTo } = answerer;
  const isHandedOver = now() >= (former?.untilMs ?? 0) && !isUnconfirmed;
  return isHandedOver && current.offset <= hop.knownEnd && answeredTo <= hop.knownEnd;
}

export function keptAnswerer({ answerer: { current, hasChosen } }: SessionState): KeptAnswerer {
  return { ...current, hasChosen };
}

export function restoreAnswerer({ answerer }: SessionState, { hasChosen, id, offset }: KeptAnswerer): void {
  answerer.current = { id, offset };
  answerer.hasChosen = hasChosen;
}

/** Chooses anew: to be called whenever a client comes or goes, or the keyboard is handed over. */
export function chooseAnswerer(session: SessionState): void {
  decide(session, chosenId(session), Math.max(session.hop.knownEnd, session.answerer.answeredTo));
}

/** At the bridge: the session object names the answerer among its clients; "" for none. */
export function nameAnswerer(session: SessionState, named: Answerer): void {
  session.answerer.named = named;
  const id = chosenId(session);
  decide(session, id, id === named.id ? named.offset : session.hop.knownEnd);
}

/**
 * Tells the bridge after its greeting. A new session object does not know the earlier answerers.
 * @param send Sends the answerer to the bridge. @returns Whether the bridge confirms it.
 * @param hasClients Whether the bridge knew of attached clients: if not, it has answered anyway and has nothing to confirm.
 */
export function announceAnswerer(
  { answerer, hop }: SessionState,
  send: (answerer: Answerer) => boolean,
  hasClients: boolean,
): void {
  const isAwaited = send(answerer.hasChosen ? answerer.current : { id: "", offset: hop.knownEnd });
  answerer.isUnconfirmed = isAwaited && hasClients;
}

/** The bridge confirms that it answers, and announces what it answers of later output. A client may take over. */
export function confirmAnswerer(session: SessionState): void {
  if (!session.answerer.isUnconfirmed) return;
  session.answerer.isUnconfirmed = false;
  chooseAnswerer(session);
}

/** The bridge announces, before their last bytes, that it answers the queries that end before `offset`. */
export function bridgeAnswers(session: SessionState, offset: number): void {
  const { answerer } = session;
  answerer.answeredTo = Math.max(answerer.answeredTo, offset);
  const { id, offset: from } = answerer.current;
  if (id === "" || from >= offset) return;
  // The client was chosen while this was on its way. No client has been sent those bytes yet.
  setAnswerer(session, { id: "", offset: from });
  setAnswerer(session, { id, offset });
}

/**
 * Whether an exclusive session accepts these bytes from a client that does not hold the keyboard: a report from the answerer,
 * while the keyboard is free, or a late report from the previous answerer.
 */
export function mayReport({ answerer, keyboard, now }: SessionState, client: ClientRecord, bytes: Uint8Array): boolean {
  if (client.role !== "driver") return false;
  const isDue = keyboard.holder === "" && answerer.current.id === client.id;
  const isLate = answerer.former?.id === client.id && now() < answerer.former.untilMs;
  return (isDue || isLate) && isReport(bytes);
}

function decide(session: SessionState, id: string, offset: number): void {
  const { answerer, now, upstream } = session;
  if (id === answerer.current.id) return;
  answerer.former = { id: answerer.current.id, untilMs: now() + LATE_REPORT_MS };
  answerer.hasChosen = true;
  setAnswerer(session, { id, offset });
  answerer.isUnconfirmed = upstream.answerer(answerer.current);
}

function setAnswerer({ answerer, clients }: SessionState, current: Answerer): void {
  answerer.current = current;
  clients.tellAll({ type: "answerer", ...current });
}

/** The client that the session object named; else the holder, else the longest attached driver. "": the bridge. */
function chosenId(session: SessionState): string {
  const { answerer, keyboard, clients } = session;
  // The bridge answers queries that were sent before it learns of a newer client, and can't announce those any more.
  if (answerer.isUnconfirmed) return "";
  const named = clients.get(answerer.named?.id ?? "");
  // A client that may come back to the session object has not left.
  if (named?.isPresent === true) return named.id;
  const holder = clients.get(keyboard.holder);
  if (holder !== undefined && canAnswer(session, holder)) return holder.id;
  // No other client may type.
  if (holder?.isPresent === true && !holder.isAttached && keyboard.mode === "exclusive") return "";
  let chosen: ClientRecord | undefined;
  for (const client of clients.present()) {
    if (client.role !== "driver" || !canAnswer(session, client)) continue;
    if (chosen === undefined || client.order < chosen.order) chosen = client;
  }
  return chosen?.id ?? "";
}

function canAnswer({ answerer }: SessionState, client: ClientRecord): boolean {
  if (client.isProgram || client.who.answersQueries === false) return false;
  const { phase } = client.presence;
  // The session object chooses among its own clients, and names one.
  return phase === "greeted" || phase === "greeting" || (phase === "remote" && answerer.named === undefined);
}
