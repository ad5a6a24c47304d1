// Chooses the party that answers a session's terminal queries, and from which offset (K5). Both hops use it: the session object
// chooses among its clients and tells the bridge, which answers if no client does.

import type { Answerer } from "../terminal/answerer-history.ts";
import type { ClientRecord } from "./client-record.ts";
import type { SessionState } from "./session-state.ts";

/** How long late reports of the previous answerer are accepted: it was asked before the handover. */
const LATE_REPORT_MS = 2_000;

/** The answerer as a parked session stores it. */
export type KeptAnswerer = Answerer & { readonly hasChosen: boolean };

/** Whether late reports are no longer accepted, and no handover is pending. */
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

/** Chooses again. Call whenever a client comes or goes, or the keyboard moves. */
export function chooseAnswerer(session: SessionState): void {
  decide(session, chosenId(session), Math.max(session.hop.knownEnd, session.answerer.answeredTo));
}

/** Bridge only: the session object names an answerer among its clients; "" if none. */
export function nameAnswerer(session: SessionState, named: Answerer): void {
  session.answerer.named = named;
  const id = chosenId(session);
  decide(session, id, id === named.id ? named.offset : session.hop.knownEnd);
}

/**
 * Tells the bridge the answerer after its greeting. A new session object does not know earlier answerers.
 * @param send Sends the answerer. @returns Whether the bridge will confirm it.
 * @param hasClients Whether the bridge knew of attached clients. If not, it was answering anyway and confirms nothing.
 */
export function announceAnswerer(
  { answerer, hop }: SessionState,
  send: (answerer: Answerer) => boolean,
  hasClients: boolean,
): void {
  const isAwaited = send(answerer.hasChosen ? answerer.current : { id: "", offset: hop.knownEnd });
  answerer.isUnconfirmed = isAwaited && hasClients;
}

/** The bridge confirms that it answers, and announces its answers from now on. A client may take over. */
export function confirmAnswerer(session: SessionState): void {
  if (!session.answerer.isUnconfirmed) return;
  session.answerer.isUnconfirmed = false;
  chooseAnswerer(session);
}

/** The bridge announces that it answers the queries that end before `offset`; sent before their last bytes. */
export function bridgeAnswers(session: SessionState, offset: number): void {
  const { answerer } = session;
  answerer.answeredTo = Math.max(answerer.answeredTo, offset);
  const { id, offset: from } = answerer.current;
  if (id === "" || from >= offset) return;
  // The client was chosen while this message was in flight. No client has been sent those bytes yet.
  setAnswerer(session, { id: "", offset: from });
  setAnswerer(session, { id, offset });
}

/**
 * Whether an exclusive session accepts these bytes from a client without the keyboard: a report from the answerer while the
 * keyboard is free, or a late report from the previous answerer.
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

/** The client that the session object named; else the holder, else the driver attached longest. "": the bridge. */
function chosenId(session: SessionState): string {
  const { answerer, keyboard, clients } = session;
  // The bridge still answers queries from before it learns of a newer client, and can't announce those any more.
  if (answerer.isUnconfirmed) return "";
  const named = clients.get(answerer.named?.id ?? "");
  // A client that may return to the session object has not left.
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
  // The session object chooses among its own clients and names one.
  return phase === "greeted" || phase === "greeting" || (phase === "remote" && answerer.named === undefined);
}

/** Longer answers, such as a clipboard's, are treated like other input. */
const MAX_REPORT_BYTES = 4096;
const ESC = 0x1b;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are what terminals send
const REPORTS = new RegExp(
  `^(?:${[
    /\x1b\[\??\d+;\d+(?:;\d+)?R/, // cursor position
    /\x1b\[[?>=][\d;]*c/, // device attributes
    /\x1b\[\??\d+(?:;\d+)*n/, // device status
    /\x1b\[\??\d+;\d\$y/, // mode
    /\x1b\[\d+(?:;\d+)*[tx]/, // window, terminal parameters
    /\x1b\[\?\d+u/, // keyboard protocol
    /\x1b\[[IO]/, // focus
    /\x1b\]\d+;[^\x00-\x1f\x7f]*(?:\x07|\x1b\\)/, // colours and the like
    /\x1bP[^\x00-\x1f\x7f]*\x1b\\/, // settings, name and version
  ]
    .map(({ source }) => source)
    .join("|")})+$`,
);
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: above

/** Whether these bytes are whole answers of a terminal and nothing else. */
export function isReport(bytes: Uint8Array): boolean {
  if (bytes[0] !== ESC || bytes.length > MAX_REPORT_BYTES) return false;
  return REPORTS.test(String.fromCharCode(...bytes));
}
