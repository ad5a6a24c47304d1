// What clients say, in order: input on its way to the process, and commands. Which client may type, which input counts as taken,
// and what each client is told.

import type { InputEntry } from "../input/input-queue.ts";
import { planWrite as planProgramWrite, type WritePlan, type WriteRequest } from "../programs/writers.ts";
import { encodeUtf8 } from "../text/utf8-text.ts";
import {
  CLOSE,
  MAX_KEPT_INPUT_BYTES,
  MAX_SHARED_WAITING_INPUT_BYTES,
  MAX_STDIN_FRAME_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  MAX_WAITING_INPUT_BYTES,
} from "../wire/constants.ts";
import type { ClientMessage } from "../wire/control.ts";
import type { PaneInputCommand } from "../wire/pane-messages.ts";
import { mayReport } from "./answerer.ts";
import { announceHolder, declineAsk, isTypingSecret, takeAsk } from "./asks.ts";
import { fed, refuse } from "./attendance.ts";
import type { ClientRecord } from "./client-record.ts";
import type { InputFate } from "./input-recorder.ts";
import type { KeyboardResult } from "./keyboard.ts";
import { acknowledge } from "./output-sender.ts";
import { type SessionState, takerOf } from "./session-state.ts";

/** Acknowledgements of input wait this long for more, so that a keystroke's does not delay its echo. */
const INPUT_ACK_DELAY_MS = 20;
/**
 * Acknowledgements over the inner hop go in steps of this many bytes: each costs the session object as much as a message of input.
 * Its record stores input in pieces of this length.
 */
const RELAYED_ACK_BYTES = MAX_UNACKED_INPUT_BYTES / 2;
/** Pieces of one client's input that may wait. Small ones are merged, so that only a faulty client reaches this. */
const MAX_UNACKED_INPUT_ENTRIES = 4096;
const TOO_MUCH_WAITS = `more than ${MAX_WAITING_INPUT_BYTES} bytes of input wait`;
const TOO_MUCH_WAITS_HERE = `more than ${MAX_SHARED_WAITING_INPUT_BYTES} bytes of this session's input wait`;
const tooMuch = (client: ClientRecord) => `more than ${client.inputWindow} bytes of input wait`;

// ---- Input -----------------------------------------------------------------------------------------------------------

/**
 * Input of a client that starts at `offset`. The session keeps a view of `bytes`, and the process's writer releases their
 * memory.
 */
export function receiveInput(session: SessionState, client: ClientRecord, bytes: Uint8Array, offset: number): void {
  const { keyboard, recorder, upstream, now } = session;
  // The process's writer may release the bytes while they are queued.
  const { length } = bytes;
  const end = offset + length;
  client.isActive = true;
  const isDuplicate = end < client.input.received || (end === client.input.received && bytes.length > 0);
  const isAllowed = keyboard.mayDrive(client.id).ok || mayReport(session, client, bytes);
  const isRefused = !isAllowed || session.isInputClosed || session.ending !== undefined;
  const { received } = client.input;
  const record = (fate: InputFate) => {
    if (bytes.length > 0) recorder?.input(client, received, offset, bytes, fate);
  };
  if (isDuplicate) {
    // An earlier incarnation of this object may have passed input on without storing it (I10). It passed on none of a viewer's.
    record(client.role === "viewer" ? "refused" : "resent");
    return;
  }
  let entry: InputEntry | undefined;
  if (bytes.length === 0 || isRefused) {
    record("refused");
    entry = client.input.refuse(end);
    if (bytes.length > 0) tellRefused(client, isAllowed ? "stdin_closed" : "not_stdin_holder");
  } else {
    entry = client.input.push(offset, bytes, keyboard.turn);
  }
  const isTooMuch = exceedsWindow(client);
  if (entry !== undefined && !isTooMuch) upstream.input(client, entry);
  // Recorded after it was passed on: an echo does not wait for the record. At the bridge, which keeps no record, the bytes may be
  // released by now.
  if (!isRefused) record("typed");
  if (isTooMuch) refuse(session, client, CLOSE.policy, tooMuch(client));
  else ackInput(session, client, false);
  client.peer?.typed?.(length, !isRefused, now());
}

/** Text for a pane: it needs the same right as all input and goes on the same record, but has no offsets (B9). */
function receivePaneInput(session: SessionState, client: ClientRecord, order: PaneInputCommand): void {
  const { keyboard, recorder, upstream, ending, now } = session;
  const bytes = encodeUtf8(order.data);
  client.isActive = true;
  const isAllowed = keyboard.mayDrive(client.id).ok;
  const isRefused = !isAllowed || ending !== undefined;
  if (isRefused) tellRefused(client, isAllowed ? "stdin_closed" : "not_stdin_holder");
  else upstream.pane(client, order);
  if (bytes.length > 0) recorder?.paneInput(client, order.pane, bytes, isRefused ? "refused" : "typed");
  client.peer?.typed?.(bytes.length, !isRefused, now());
}

/**
 * Input of a client that can't be told to wait, in a frame of any length: accepted as the process takes it, at most
 * {@link MAX_UNACKED_INPUT_BYTES} ahead of it.
 */
export function feedInput(session: SessionState, client: ClientRecord, bytes: Uint8Array): void {
  const isShort = bytes.length <= MAX_STDIN_FRAME_BYTES;
  if (isShort && client.feed.isEmpty && hasRoom(session, client))
    receiveInput(session, client, bytes, client.input.received);
  else if (!hasSharedRoom(session, client, bytes.length)) refuse(session, client, CLOSE.policy, TOO_MUCH_WAITS_HERE);
  else if (client.feed.push(bytes)) pumpFeed(session, client);
  else refuse(session, client, CLOSE.policy, TOO_MUCH_WAITS);
}

/** A message of such a client, which takes effect at its place among the input. */
export function feedMessage(session: SessionState, client: ClientRecord, message: ClientMessage): void {
  if (client.feed.isEmpty) followCommand(session, client, message);
  else if (!client.feed.pushMessage(message)) refuse(session, client, CLOSE.policy, "too many messages wait");
}

/** Accepts as much waiting input as there is room for. */
function pumpFeed(session: SessionState, client: ClientRecord): void {
  const { feed } = client;
  if (feed.isEmpty || feed.isPumping) return;
  feed.isPumping = true;
  try {
    let hasFed = false;
    // A message may cost the client its place.
    while (hasRoom(session, client) && client.presence.phase !== "gone") {
      const next = feed.shift();
      if (next === undefined) break;
      hasFed = true;
      if (next.kind === "bytes") receiveInput(session, client, next.bytes, client.input.received);
      else followCommand(session, client, next.message);
    }
    if (hasFed) fed(session, client);
  } finally {
    feed.isPumping = false;
  }
}

/** Whether this much more of the client's input may wait beside the waiting input of the others. */
function hasSharedRoom({ clients }: SessionState, client: ClientRecord, length: number): boolean {
  if (client.feed.bytes + length <= MAX_UNACKED_INPUT_BYTES) return true;
  let bytes = length;
  for (const other of clients.all) bytes += other.feed.bytes;
  return bytes <= MAX_SHARED_WAITING_INPUT_BYTES;
}

function hasRoom(session: SessionState, client: ClientRecord): boolean {
  return client.input.received - settledInput(session, client) < MAX_UNACKED_INPUT_BYTES;
}

/** The client has ended its input, at `offset`. */
function receiveEof(session: SessionState, client: ClientRecord, offset: number): void {
  client.isActive = true;
  const { hop, upstream } = session;
  if (!mayEndInput(session, client)) {
    tellRefused(client, "not_stdin_holder");
    return;
  }
  if (session.ending !== undefined) return;
  const entry = client.input.pushEof(offset) ?? (hop.repeatsEof ? client.input.waitingEof : undefined);
  if (exceedsWindow(client)) refuse(session, client, CLOSE.policy, tooMuch(client));
  else if (entry !== undefined) upstream.input(client, entry);
}

/** Whether the end of this client's input counts. Programs, which are here only while they call, keep no client from ending it. */
function mayEndInput({ keyboard, clients, facts, creator }: SessionState, client: ClientRecord): boolean {
  if (facts.tty) return keyboard.mayDrive(client.id).ok;
  const isOther = (c: ClientRecord) => c.role === "driver" && c.id !== client.id && !c.isProgram;
  const isOnlyDriver = ![...clients.present()].some(isOther);
  const isOwner = client.id === creator || client.id === keyboard.holder;
  return client.role === "driver" && (isOwner || isOnlyDriver);
}

// ---- Programs ----------------------------------------------------------------------------------------------------------

/** The plan for a program's write, as the session stands now. */
export function planWrite(session: SessionState, client: ClientRecord, request: WriteRequest): WritePlan {
  const { keyboard, facts } = session;
  const mayType = keyboard.mayDrive(client.id).ok && (!request.eof || mayEndInput(session, client));
  const isStdinClosed = session.isInputClosed || (!facts.tty && client.input.waitingEof !== undefined);
  const state = { hasExited: session.ending !== undefined, isStdinClosed, mayType, holder: keyboard.holder };
  return planProgramWrite(client.input, state, request);
}

/** Queues the planned bytes, which are the session's from here on. */
export function typePlanned(session: SessionState, client: ClientRecord, bytes: Uint8Array, eof: boolean): void {
  const { upstream, keyboard } = session;
  const { received } = client.input;
  const entry = bytes.length === 0 ? undefined : client.input.push(received, bytes, keyboard.turn);
  if (entry !== undefined) upstream.input(client, entry);
  const end = eof ? client.input.pushEof(client.input.received) : undefined;
  if (end !== undefined) upstream.input(client, end);
  ackInput(session, client, true);
}

// ---- What the process has taken ----------------------------------------------------------------------------------------

/** The first `count` bytes of the client's oldest entry were written to the process. */
export function takeInput(session: SessionState, client: ClientRecord, count: number): void {
  client.input.take(count);
  // A program's call is answered when its input is taken.
  ackInput(session, client, client.isProgram);
}

/** The client's oldest entry was an end of input, and the process has it. */
export function takeEof(session: SessionState, client: ClientRecord): void {
  client.input.takeEof();
  if (!session.facts.tty) session.isInputClosed = true;
  ackInput(session, client, true);
}

/** How much of a client's input may be acknowledged: taken, and stored if a record is kept. */
export function settledInput({ recorder }: SessionState, client: ClientRecord): number {
  return Math.min(client.input.taken, recorder?.storedUpTo(client.id) ?? client.input.taken);
}

/**
 * Tells the client how much of its input is settled: a frame's length at once, the rest after a moment. A client whose window is
 * full sends as much as was acknowledged: after less than a frame, its frames would stay short for good.
 */
export function ackInput(session: SessionState, client: ClientRecord, isDue: boolean): void {
  pumpFeed(session, client);
  if (client.isProgram) session.hop.inputSettled(client);
  const { presence } = client;
  // Before the greeting, which says the same, or without a connection, the client can't be told.
  if (presence.phase !== "greeted" && presence.phase !== "remote") return;
  const { inputAcks } = presence;
  const settled = settledInput(session, client);
  if (settled <= inputAcks.sent) return;
  const step = presence.phase === "greeted" ? MAX_STDIN_FRAME_BYTES : RELAYED_ACK_BYTES;
  const told = isDue ? settled : settled - (settled % step);
  if (told <= inputAcks.sent) {
    inputAcks.dueMs ??= session.now() + INPUT_ACK_DELAY_MS;
    return;
  }
  inputAcks.dueMs = told < settled ? session.now() + INPUT_ACK_DELAY_MS : undefined;
  inputAcks.sent = told;
  // A client that doesn't number its input is not told. Its session object is, which keeps the input until then (L4).
  if (client.acknowledges || presence.phase === "remote") client.tell({ type: "stdin_ack", offset: told });
}

/** When {@link tickInput} is due for this client; undefined while no acknowledgement of its input waits. */
export function inputTickMs({ presence }: ClientRecord): number | undefined {
  return presence.phase === "greeted" || presence.phase === "remote" ? presence.inputAcks.dueMs : undefined;
}

export function tickInput(session: SessionState, client: ClientRecord, now: number): void {
  if ((inputTickMs(client) ?? Number.POSITIVE_INFINITY) <= now) ackInput(session, client, true);
}

/** Whether more of the client's input waits than it may have sent. Waiting input of its earlier connections comes on top. */
function exceedsWindow(client: ClientRecord): boolean {
  const { queuedBytes, entries } = client.input;
  const window = client.presence.phase === "remote" ? MAX_KEPT_INPUT_BYTES : client.inputWindow;
  return (
    queuedBytes > Math.min(earlierBytes(client), window) + window + MAX_STDIN_FRAME_BYTES ||
    entries.length > MAX_UNACKED_INPUT_ENTRIES
  );
}

/** Bytes that earlier connections of the client may have left waiting. The session object enforces the limit for its clients. */
function earlierBytes({ presence, input }: ClientRecord): number {
  if (presence.phase === "greeted" || presence.phase === "greeting")
    return Math.max(0, presence.inputStart - input.taken);
  return presence.phase === "opening" ? 0 : MAX_KEPT_INPUT_BYTES;
}

export function tellRefused(client: ClientRecord, code: "not_stdin_holder" | "stdin_closed"): void {
  if (code === "stdin_closed") client.wasToldClosed = true;
  const message = code === "stdin_closed" ? "the process takes no more input" : "not stdin holder";
  client.tell({ type: "error", code, message });
}

// ---- Commands ----------------------------------------------------------------------------------------------------------

/** Everything a client may say in text, except `ping` and `auth`, which concern its connection. */
export function followCommand(session: SessionState, client: ClientRecord, message: ClientMessage): void {
  const { keyboard, upstream, hop } = session;
  switch (message.type) {
    case "resize":
      if (message.pane !== undefined) {
        const { pane, cols, rows } = message;
        if (mayDriveOrTell(session, client)) upstream.pane(client, { type: "resize", pane, cols, rows });
        return;
      }
      hop.resizeWindow(client, { cols: message.cols, rows: message.rows });
      return;
    case "signal":
      if (mayDriveOrTell(session, client)) upstream.signal(client, message.signal);
      return;
    case "kill":
      if (mayDriveOrTell(session, client)) upstream.kill(client);
      return;
    case "stdin":
      receivePaneInput(session, client, message);
      return;
    case "pane":
      if (mayDriveOrTell(session, client)) upstream.pane(client, message);
      return;
    case "eof":
      receiveEof(session, client, message.offset ?? client.input.received);
      return;
    case "ack":
      acknowledge(session, client, message.offset);
      return;
    case "request_stdin":
      requestKeyboard(session, client);
      return;
    case "release_stdin":
      concludeKeyboard(session, client, keyboard.release(client.id));
      return;
    case "grant_stdin":
      concludeKeyboard(session, client, keyboard.grant(client.id, message.to));
      return;
    case "take_ask":
      takeAsk(session, client, message.id);
      return;
    case "decline_ask":
      declineAsk(session, client, message.id);
      return;
    case "force_take":
      concludeKeyboard(session, client, keyboard.forceTake(client.id, isHolderAway(session, client)));
      return;
    case "secret":
      setSecret(session, client, message.on);
      return;
    case "ping":
    case "auth":
      return;
  }
}

/** Whether the client may type, signal and kill. It is told if not. */
function mayDriveOrTell({ keyboard }: SessionState, client: ClientRecord): boolean {
  const result = keyboard.mayDrive(client.id);
  if (!result.ok) tellRefused(client, "not_stdin_holder");
  return result.ok;
}

/** Whether a holder that has vanished keeps the keyboard from the session's creator (K2e). */
function isHolderAway({ clients, keyboard, creator }: SessionState, client: ClientRecord): boolean {
  return client.id === creator && clients.get(keyboard.holder)?.presence.phase === "vanished";
}

function requestKeyboard(session: SessionState, client: ClientRecord): void {
  const isAsked = session.asks.some(({ answer }) => answer === undefined) && takerOf(session.asks) === undefined;
  if (isAsked && client.role === "driver" && !client.isProgram) {
    takeAsk(session, client);
    return;
  }
  const result = session.keyboard.request(client.id);
  if (result.ok && result.isTaken) session.clients.tellAll({ type: "stdin_request", id: client.id });
  else concludeKeyboard(session, client, result);
}

function concludeKeyboard(session: SessionState, client: ClientRecord, result: KeyboardResult): void {
  if (result.ok) {
    announceHolder(session);
    return;
  }
  const code = result.fault === "viewer" ? "not_allowed" : result.fault;
  client.tell({ type: "error", code, message: code.replaceAll("_", " ") });
}

function setSecret(session: SessionState, client: ClientRecord, on: boolean): void {
  const { recorder } = session;
  if (!on && isTypingSecret(session, client)) return;
  if (client.role === "viewer") {
    client.tell({ type: "error", code: "not_allowed", message: "a viewer has no input to keep secret" });
  } else if (recorder?.setSecret(client.id, on) === false) {
    const message = "secret input is switched off here: it is recorded like all other";
    client.tell({ type: "error", code: "not_allowed", message });
    client.tell({ type: "secret", on: false });
  }
}
