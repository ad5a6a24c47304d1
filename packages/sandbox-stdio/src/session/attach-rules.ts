// The rules of attaching: which client is refused, which one starts with a snapshot, where input is numbered from, and the
// words of the greeting. Decides from its arguments; keeps nothing.

import type { OutputLog } from "../output/output-log.ts";
import type { SnapshotFrame } from "../output/snapshot-requests.ts";
import { Window } from "../output/window.ts";
import { isHeldUp } from "../wire/attempt.ts";
import { CLOSE, MAX_SNAPSHOT_BYTES, MAX_UNACKED_INPUT_BYTES, OUTER_PROTOCOL } from "../wire/constants.ts";
import type { Hello } from "../wire/control.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Keyboard } from "./keyboard.ts";
import type { Greeted } from "./presence.ts";
import type { AttachRequest, AttachResult, SessionFacts } from "./session-types.ts";

/** The parts of a session that a client attaches to. */
export type AttachContext = {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly clients: Clients;
  readonly keyboard: Keyboard;
  readonly answerer: { readonly id: string; readonly offset: number };
  /** The client that the process was started for; "" if it is unknown. */
  readonly creator: string;
  readonly hasExited: boolean;
  /** As far as there has been output, whether or not it has come here. */
  readonly knownEnd: number;
  readonly maxClients: number;
  readonly keptPlaces: number;
};

/** Why this client can't attach; undefined: it can. `old` is its record from before. */
export function refusalOf(
  request: AttachRequest,
  old: ClientRecord | undefined,
  at: AttachContext,
): AttachResult | undefined {
  const { clients, hasExited, knownEnd } = at;
  const refuse = (code: number, reason: string, retry: "never" | "after"): AttachResult => ({
    ok: false,
    code,
    reason,
    retry,
  });
  // After the exit nothing can be taken twice.
  if (request.isResume && old === undefined && !hasExited && clients.gone.has(request.id))
    return refuse(CLOSE.notFound, "this client has left: nothing to resume", "never");
  const [attempt, last] = [request.attempt, old?.attempt];
  if (attempt !== undefined && last !== undefined && isHeldUp(attempt, last))
    return refuse(CLOSE.conflict, "held up on its way: this client has made a newer connection", "never");
  if (request.offset !== undefined && request.offset > knownEnd) {
    return refuse(CLOSE.badRequest, `offset ${request.offset} is beyond the log, which ends at ${knownEnd}`, "never");
  }
  if (request.isResume && request.stdin === "new" && (old?.input.queuedBytes ?? 0) > MAX_UNACKED_INPUT_BYTES) {
    return refuse(CLOSE.tryLater, "too much that this client typed in earlier lives still waits", "after");
  }
  const isNew = old?.isPresent !== true;
  const full = isNew ? fullness(request, at) : undefined;
  return full === undefined ? undefined : refuse(CLOSE.tryLater, full, "after");
}

/** Why there is no place for one client more; undefined: there is. */
function fullness({ party, mayUseKept = true }: AttachRequest, at: AttachContext): string | undefined {
  const { clients, hasExited, maxClients, keptPlaces } = at;
  let [taken, notKept, ofParty] = [0, 0, 0];
  for (const client of clients.all) {
    if (client.isProgram) continue;
    // A client that has been told the exit takes up no place, though it may come back.
    if (hasExited ? !client.isAttached : !client.isPresent) continue;
    taken += 1;
    if (!client.mayUseKept) notKept += 1;
    if (party !== undefined && client.party === party.id) ofParty += 1;
  }
  if (taken >= maxClients) return "the session is full";
  if (!mayUseKept && notKept >= maxClients - keptPlaces) return "the session is full: its last places are its drivers'";
  if (party !== undefined && ofParty >= party.maxClients) return "the link is full: as many came by it as may";
  return undefined;
}

/** Whether the log holds everything, and little enough to be replayed. */
export function isReplayable({ log, knownEnd }: Pick<AttachContext, "log" | "knownEnd">): boolean {
  return log.startOffset === 0 && knownEnd <= MAX_SNAPSHOT_BYTES;
}

/** Whether this client is to start with a snapshot: it wants the screen, and the log alone would not give it that. */
export function needsScreen(request: AttachRequest, at: AttachContext): boolean {
  if (!at.facts.tty || !request.acknowledges) return false;
  if (request.offset === undefined) return !isReplayable(at);
  return request.isResume && request.offset < at.log.startOffset;
}

/** Where a connection's input is numbered from: the input that its client keeps, or that it has not kept, or the settled input. */
export function inputStartOf({ isResume, stdin }: AttachRequest, { input }: ClientRecord, settled: number): number {
  // Without a proof it has kept nothing either.
  if (!isResume) return input.received;
  if (stdin === undefined) return settled;
  // Waiting input of an earlier life stays, and must not be taken for input of this one.
  return stdin === "new" ? input.received : Math.max(settled, stdin);
}

/** Where a client's output starts: with the snapshot, else where it asks for it, else at the oldest byte held. */
export function startOf(request: AttachRequest, screen: SnapshotFrame | undefined, log: OutputLog): number {
  return screen?.offset ?? Math.max(request.offset ?? 0, log.startOffset);
}

/** The greeting of a client whose output `reader` sends, and whose input is numbered from `inputStart` on. */
export function helloOf(
  client: ClientRecord,
  request: AttachRequest,
  { reader, inputStart }: Pick<Greeted, "reader" | "inputStart">,
  screen: SnapshotFrame | undefined,
  at: AttachContext,
): Hello {
  const { facts, keyboard, log } = at;
  const offset = reader.cursor;
  // A client that names no offset wants the screen on a PTY, and all output on pipes.
  const asked = request.offset ?? (facts.tty ? offset : 0);
  const isMissing = offset > (request.offset ?? 0);
  const isApproximate = facts.tty && (screen === undefined ? isMissing : !screen.isExact);
  const { cols, rows } = screen ?? log.sizeAt(offset);
  return {
    type: "hello",
    protocol: OUTER_PROTOCOL,
    sandbox: facts.sandbox,
    session: facts.session,
    incarnation: facts.incarnation,
    tty: facts.tty,
    cols,
    rows,
    offset,
    live: Math.max(offset, at.knownEnd),
    stdin: inputStart,
    resume: request.resume,
    window: reader.flow instanceof Window ? reader.flow.maxBytes : reader.flow.bytes,
    delivery: client.delivery,
    you: client.participant,
    answerer: at.answerer,
    holder: keyboard.holder,
    mode: facts.mode,
    participants: at.clients.participants,
    ...(offset > asked ? { gap: offset - asked } : {}),
    ...(isApproximate ? { approximate: true } : {}),
    ...(client.id === at.creator ? { creator: true } : {}),
    ...(client.inputWindow > MAX_UNACKED_INPUT_BYTES ? { inputWindow: client.inputWindow } : {}),
  };
}
