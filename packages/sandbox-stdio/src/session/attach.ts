// Attaches a client: checks for refusal, picks its snapshot and the start of its input, and greets it: at once, when the
// snapshot arrives, or when the bridge holds the process.

import type { OutputLog } from "../output/output-log.ts";
import type { SnapshotFrame } from "../output/snapshot-requests.ts";
import { FIRST_WINDOW_BYTES, Window } from "../output/window.ts";
import { isDelayed } from "../wire/attempt.ts";
import { CLOSE, MAX_SNAPSHOT_BYTES, MAX_UNACKED_INPUT_BYTES, OUTER_PROTOCOL } from "../wire/constants.ts";
import type { Hello } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import { chooseAnswerer } from "./answerer.ts";
import { tellOpenAsks } from "./asks.ts";
import { admit } from "./attendance.ts";
import { settledInput, tellRefused } from "./client-input.ts";
import type { ClientRecord } from "./client-record.ts";
import { readerAt, startOutput } from "./output-sender.ts";
import type { Greeted, Opening, Peer } from "./presence.ts";
import { type SessionState, secondsLeft } from "./session-state.ts";
import type { AttachRequest, AttachResult } from "./session-types.ts";

/** Attaches a directly connected client and greets it. */
export function attach(session: SessionState, request: AttachRequest, peer: Peer): AttachResult {
  const { facts, log, snapshots, hop, now } = session;
  const refusal = refusalOf(session, request, session.clients.get(request.id));
  if (refusal !== undefined) return refusal;
  const usual = facts.tty ? "live" : "lossless";
  const delivery = request.role === "viewer" ? "live" : (request.delivery ?? usual);
  const start = startOf(request, undefined, log);
  const opening: Opening = {
    phase: "opening",
    peer,
    acked: start - inFlightAt(start, request, log),
    windowBytes: FIRST_WINDOW_BYTES,
  };
  const client = admit(session, { ...request, delivery }, opening);
  const greetNow = (screen?: SnapshotFrame) => {
    // The client may have left meanwhile, or reconnected.
    if (client.presence === opening) greet(session, client, peer, request, screen);
  };
  if (snapshots.isPossible && needsScreen(session, request)) snapshots.await(greetNow);
  else if (hop.greetsOnceHeld(client)) opening.hold = { greet: greetNow, sinceMs: now() };
  else greetNow();
  if (client.presence === opening) chooseAnswerer(session);
  return { ok: true, client };
}

function greet(
  session: SessionState,
  client: ClientRecord,
  peer: Peer,
  request: AttachRequest,
  screen: SnapshotFrame | undefined,
): void {
  const start = startOf(request, screen, session.log);
  const inFlight = inFlightAt(start, request, session.log);
  const reader = readerAt(session, { start, inFlight }, client, peer, screen);
  const settled = settledInput(session, client);
  const inputStart = inputStartOf(request, client, settled);
  const inputAcks = { sent: settled, dueMs: undefined };
  const greeting: Greeted = { phase: "greeting", peer, reader, inputStart, inputAcks };
  client.presence = greeting;
  chooseAnswerer(session);
  if (client.wasToldClosed && client.acknowledges) tellRefused(client, "stdin_closed");
  peer.send(helloOf(session, client, request, greeting, screen));
  tellOpenAsks(session, client, peer);
  if (session.echo?.on === false && client.acknowledges) peer.send({ type: "echo", ...session.echo });
  // An earlier life of this client may have asked for secrecy.
  if (session.recorder?.isSecret(client.id) === true) peer.send({ type: "secret", on: true });
  const seconds = secondsLeft(session);
  if (seconds !== undefined && client.acknowledges) peer.send({ type: "stopping", seconds });
  if (session.panes !== undefined && client.acknowledges) peer.send(session.panes);
  greeting.phase = "greeted";
  startOutput(session, client, reader, screen);
  peer.greeted?.();
}

// ---- Rules -------------------------------------------------------------------------------------------------------------

/** Why this client can't attach; undefined if it can. `old` is its previous record. */
function refusalOf(
  session: SessionState,
  request: AttachRequest,
  old: ClientRecord | undefined,
): AttachResult | undefined {
  const { clients, ending, hop } = session;
  const refuse = (code: number, reason: string, retry: "never" | "after"): AttachResult => {
    return { ok: false, code, reason, retry };
  };
  // After the exit nothing can be taken twice.
  if (request.isResume && old === undefined && ending === undefined && clients.gone.has(request.id))
    return refuse(CLOSE.notFound, "this client has left: nothing to resume", "never");
  const [attempt, last] = [request.attempt, old?.attempt];
  if (attempt !== undefined && last !== undefined && isDelayed(attempt, last))
    return refuse(CLOSE.conflict, "delayed: this client has made a newer connection", "never");
  if (request.offset !== undefined && request.offset > hop.knownEnd) {
    const reason = `offset ${request.offset} is beyond the log, which ends at ${hop.knownEnd}`;
    return refuse(CLOSE.badRequest, reason, "never");
  }
  if (request.isResume && request.stdin === "new" && (old?.input.queuedBytes ?? 0) > MAX_UNACKED_INPUT_BYTES) {
    return refuse(CLOSE.tryLater, "too much input from earlier lives of this client still waits", "after");
  }
  const full = old?.isPresent === true ? undefined : fullReason(session, request);
  return full === undefined ? undefined : refuse(CLOSE.tryLater, full, "after");
}

/** Why one more client does not fit; undefined if it does. */
function fullReason(session: SessionState, { party, mayUseKept = true }: AttachRequest): string | undefined {
  const { clients, ending, maxClients, keptPlaces } = session;
  let [taken, notKept, ofParty] = [0, 0, 0];
  for (const client of clients.all) {
    if (client.isProgram) continue;
    // A client that was told the exit takes no place, though it may return.
    if (ending === undefined ? !client.isPresent : !client.isAttached) continue;
    taken += 1;
    if (!client.mayUseKept) notKept += 1;
    if (party !== undefined && client.party === party.id) ofParty += 1;
  }
  if (taken >= maxClients) return "the session is full";
  if (!mayUseKept && notKept >= maxClients - keptPlaces) return "the session is full: its last places are its drivers'";
  if (party !== undefined && ofParty >= party.maxClients) return "the link is full: no more clients may use it now";
  return undefined;
}

/** Whether the log is complete and short enough to replay. */
export function isReplayable({ log, hop }: SessionState): boolean {
  return log.startOffset === 0 && hop.knownEnd <= MAX_SNAPSHOT_BYTES;
}

/** Whether this client starts with a snapshot: it needs the screen, and the log alone does not give it. */
function needsScreen(session: SessionState, request: AttachRequest): boolean {
  const { startsWithScreen = request.acknowledges ? "ifLong" : undefined } = request;
  if (!session.facts.tty || startsWithScreen === undefined) return false;
  if (startsWithScreen === "always") return true;
  if (request.offset === undefined) return !isReplayable(session);
  return request.isResume && request.offset < session.log.startOffset;
}

/** Start of a connection's input: the input that the client kept, the end of input that it did not keep, or the settled input. */
function inputStartOf({ isResume, stdin }: AttachRequest, { input }: ClientRecord, settled: number): number {
  // A client without a proof has not kept any input either.
  if (!isResume) return input.received;
  if (stdin === undefined) return settled;
  // Waiting input of an earlier life stays, and must not count as input of this one.
  return stdin === "new" ? input.received : Math.max(settled, stdin);
}

/** Start of a client's output: the snapshot, else the requested offset, else the oldest byte held. */
function startOf(request: AttachRequest, screen: SnapshotFrame | undefined, log: OutputLog): number {
  return screen?.offset ?? Math.max(request.offset ?? 0, log.startOffset);
}

/**
 * Bytes that an earlier connection received but did not process. They stay in flight, since the client's next life may ask for
 * them again (R1). At most one window.
 */
function inFlightAt(start: number, { isResume, offset, acked = start }: AttachRequest, log: OutputLog): number {
  return isResume && offset === start ? Math.min(log.windowBytes, Math.max(0, start - acked)) : 0;
}

/** The greeting of a client; its input starts at `inputStart`. */
function helloOf(
  session: SessionState,
  client: ClientRecord,
  request: AttachRequest,
  { reader, inputStart }: Pick<Greeted, "reader" | "inputStart">,
  screen: SnapshotFrame | undefined,
): Hello {
  const { facts, keyboard, log, hop, answerer, clients, creator } = session;
  const offset = reader.cursor;
  // Without an offset a client wants the screen of a PTY, or all output of pipes.
  const asked = request.offset ?? (facts.tty ? offset : 0);
  const isMissing = offset > (request.offset ?? 0);
  const isApproximate = facts.tty && (screen === undefined ? isMissing : !screen.isExact);
  const { cols, rows } = screen ?? log.sizeAt(offset);
  const { sandbox, session: name, incarnation, tty, mode } = facts;
  return {
    type: "hello",
    protocol: OUTER_PROTOCOL,
    ...{ sandbox, session: name, incarnation, tty, cols, rows, offset },
    live: Math.max(offset, hop.knownEnd),
    stdin: inputStart,
    resume: request.resume,
    window: reader.flow instanceof Window ? reader.flow.maxBytes : reader.flow.bytes,
    delivery: client.delivery,
    you: client.participant,
    answerer: answerer.current,
    holder: keyboard.holder,
    mode,
    participants: clients.participants,
    ...defined({
      gap: offset > asked ? offset - asked : undefined,
      approximate: isApproximate || undefined,
      creator: client.id === creator || undefined,
      inputWindow: client.inputWindow > MAX_UNACKED_INPUT_BYTES ? client.inputWindow : undefined,
      recording: session.recording,
    }),
  };
}
