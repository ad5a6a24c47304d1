// A program asks for a person (K11 to K14): one takes the keyboard, alone, until it is given back; or declines. Decides, and tells
// the drivers. The session's shell stores what there is, and keeps the record.

import { UNSEEN } from "../wire/attach-query.ts";
import { ASK_MS } from "../wire/constants.ts";
import type { AskAnswer, ServerMessage } from "../wire/control.ts";
import { chooseAnswerer } from "./answerer.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Peer } from "./presence.ts";
import { type SessionState, takerOf } from "./session-state.ts";
import type { Ask, AskRequest } from "./session-types.ts";

const HOUR_MS = 3_600_000;
const ASKS_AN_HOUR = 10;
/** Of all writers in an hour. */
const MAX_KEPT_ASKS = 60;

const isOpen = ({ answer }: Ask): boolean => answer === undefined;

/** Whether a person may be typing a secret for a program of this person's. */
export function isSecretFor({ asks }: SessionState, asker: string): boolean {
  return asks.some((ask) => isOpen(ask) && ask.secret && ask.asker === asker);
}

/** @returns Why it may not ask, if so. */
export function openAsk(session: SessionState, client: ClientRecord, request: AskRequest): string | undefined {
  const { now } = session;
  tickAsks(session, now());
  session.asks = session.asks.filter((ask) => isOpen(ask) || ask.atMs + HOUR_MS > now());
  const own = session.asks.filter(({ by }) => by === client.id);
  if (own.some(isOpen)) return "ask_open";
  if (own.length >= ASKS_AN_HOUR || session.asks.length >= MAX_KEPT_ASKS) return "too_many_asks";
  const ask: Ask = { ...request, reason: request.reason.replace(UNSEEN, " "), by: client.id, atMs: now() };
  session.asks = [...session.asks, ask];
  // As if a call were under way: its writer keeps its place, and in an exclusive session gets the keyboard back.
  countCall(client, 1);
  tellDrivers(session, messageOf(ask));
  session.hop.asked(ask, "asked", client.id);
  return undefined;
}

/** A person takes the keyboard for it. @param id Absent: for the oldest. */
export function takeAsk(session: SessionState, client: ClientRecord, id?: string): void {
  const ask = askFor(session, client, takerOf(session.asks), id);
  if (ask === undefined) return;
  if (!session.keyboard.lend(client.id).ok) tellFault(client, "not_stdin_holder");
  else {
    put(session, { ...ask, takenBy: client.id });
    session.hop.asked(ask, "taken", client.id);
    announceHolder(session);
  }
}

/** A person declines it; who has taken it gives the keyboard back with that. */
export function declineAsk(session: SessionState, client: ClientRecord, id: string): void {
  const ask = askFor(session, client, session.asks.find((one) => one.id === id)?.takenBy, id);
  if (ask !== undefined) conclude(session, [ask], "declined", client.id);
}

/** The open ask, if this client may answer it; else it is told why not. */
function askFor({ asks }: SessionState, client: ClientRecord, taker = client.id, id?: string): Ask | undefined {
  const ask = asks.find((one) => isOpen(one) && (id ?? one.id) === one.id);
  const mayAnswer = client.role === "driver" && !client.isProgram;
  if (ask !== undefined && taker === client.id && mayAnswer) return ask;
  tellFault(client, ask === undefined ? "no_such_ask" : mayAnswer ? "ask_taken" : "not_allowed");
  return undefined;
}

function tellFault(client: ClientRecord, code: string): void {
  client.tell({ type: "error", code, message: code.replaceAll("_", " ") });
}

/** Tells everyone which client holds the keyboard. */
export function announceHolder(session: SessionState): void {
  const { clients, keyboard, upstream, hop } = session;
  followHolder(session);
  clients.tellAll({ type: "stdin_holder", id: keyboard.holder });
  upstream.holder(keyboard.holder);
  chooseAnswerer(session);
  hop.keyboardMoved();
}

/** The keyboard has changed hands: an ask that was taken goes with it to a person, and else is done. */
function followHolder(session: SessionState): void {
  const { keyboard, clients, recorder } = session;
  const taken = session.asks.filter((ask) => isOpen(ask) && ask.takenBy !== undefined);
  if (taken.length === 0) return;
  const holder = clients.get(keyboard.holder);
  if (holder === undefined || holder.isProgram) {
    end(session, taken, "done", taken[0]?.takenBy ?? "");
    if (holder === undefined) returnTo(session, taken);
    return;
  }
  keyboard.lend(holder.id);
  for (const ask of taken) {
    put(session, { ...ask, takenBy: holder.id });
    tellDrivers(session, { type: "ask_state", id: ask.id, by: holder.id });
  }
  if (!isTypingSecret(session, holder)) return;
  recorder?.setSecret(holder.id, true);
  holder.tell({ type: "secret", on: true });
}

/** Whether this client's input is for an ask that is secret: then it can't end its secrecy (K13). */
export function isTypingSecret({ asks }: SessionState, { id }: ClientRecord): boolean {
  return asks.some((ask) => isOpen(ask) && ask.secret && ask.takenBy === id);
}

/** What a client that attaches is told of. */
export function tellOpenAsks({ asks }: SessionState, client: ClientRecord, peer: Peer): void {
  if (!isTold(client)) return;
  for (const ask of asks.filter(isOpen)) {
    peer.send(messageOf(ask));
    if (ask.takenBy !== undefined) peer.send({ type: "ask_state", id: ask.id, by: ask.takenBy });
  }
}

/** The process has ended: nothing is to be answered any more. */
export function dropAsks(session: SessionState): void {
  const open = session.asks.filter(isOpen);
  session.asks = session.asks.filter((ask) => !isOpen(ask));
  for (const ask of open) session.hop.asked({ ...ask, reason: "" }, "exited", "");
}

/** They end in the order in which they began. */
export function nextAskMs({ asks }: SessionState): number | undefined {
  const next = asks.find(isOpen);
  return next && next.atMs + ASK_MS;
}

export function tickAsks(session: SessionState, now: number): void {
  const over = session.asks.filter((ask) => isOpen(ask) && ask.atMs + ASK_MS <= now);
  if (over.length > 0) conclude(session, over, "expired", "");
}

/** Ends asks, and with them the taker's right to type alone. */
function conclude(session: SessionState, asks: readonly Ask[], answer: AskAnswer, by: string): void {
  const { keyboard } = session;
  const isLent = asks.some(({ takenBy }) => takenBy !== undefined && takenBy === keyboard.holder);
  end(session, asks, answer, by);
  if (!isLent || takerOf(session.asks) !== undefined) return;
  keyboard.release(keyboard.holder);
  returnTo(session, asks);
  announceHolder(session);
}

function end(session: SessionState, asks: readonly Ask[], answer: AskAnswer, by: string): void {
  for (const { takenBy: _, ...ask } of asks) {
    const ended = { ...ask, reason: "", answer };
    put(session, ended);
    const writer = session.clients.get(ask.by);
    if (writer !== undefined) countCall(writer, -1);
    tellDrivers(session, { type: "ask_state", id: ask.id, answer });
    session.hop.asked(ended, answer, by);
  }
}

/** In an exclusive session the keyboard goes back to the program, if that is still here. */
function returnTo({ keyboard, clients }: SessionState, asks: readonly Ask[]): void {
  const writer = asks.find(({ by }) => clients.get(by)?.isPresent === true);
  if (keyboard.mode === "exclusive" && writer !== undefined) keyboard.setHolder(writer.by);
}

function put(session: SessionState, ask: Ask): void {
  session.asks = session.asks.map((old) => (old.id === ask.id ? ask : old));
}

function countCall(client: ClientRecord, by: 1 | -1): void {
  const { presence } = client;
  if (presence.phase === "calling") client.presence = { ...presence, calls: Math.max(0, presence.calls + by) };
}

function messageOf({ id, writer, reason, secret }: Ask): ServerMessage {
  return { type: "ask", id, writer, reason, secret };
}

const isTold = ({ role, acknowledges, isProgram }: ClientRecord) => role === "driver" && acknowledges && !isProgram;

function tellDrivers({ clients }: SessionState, message: ServerMessage): void {
  for (const client of clients.all) if (isTold(client)) client.greeted?.peer.send(message);
}
