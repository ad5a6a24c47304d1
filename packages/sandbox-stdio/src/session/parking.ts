// Parks a session while its clients stay connected: decides when, describes the stored state of the session and each client, and
// restores it. Data only: the session object stores it.

import { InputQueue } from "../input/input-queue.ts";
import { OutputLog } from "../output/output-log.ts";
import type { Attempt } from "../wire/attempt.ts";
import { defined } from "../wire/fields.ts";
import type { KnownClient } from "../wire/inner-messages.ts";
import { isAnswererSettled, type KeptAnswerer, keptAnswerer, restoreAnswerer } from "./answerer.ts";
import { ClientRecord, type ClientWho, knownOf, type TerminalSize } from "./client-record.ts";
import type { Greeted, Peer } from "./presence.ts";
import type { RelaySession } from "./relay-session.ts";

/** Stored state of one client, without its connection. Structured-cloneable. */
export type ParkedClient = {
  readonly id: string;
  readonly who: ClientWho;
  /** Position in the order of arrival. */
  readonly order: number;
  readonly size?: TerminalSize;
  readonly attempt?: Attempt;
  readonly isActive: boolean;
  /** Absent from an older version: the default. */
  readonly inputWindow?: number;
  /** The last size of the PTY sent to it. */
  readonly toldSize: TerminalSize;
  /** All of its input before this is taken and acknowledged. */
  readonly input: number;
  /** Offset at which it ended its input; `waits`: not confirmed by the bridge. */
  readonly eof?: { readonly offset: number; readonly waits: boolean };
  /** Start offset of its connection's input. */
  readonly inputStart: number;
};

/** Stored state of the session itself. Structured-cloneable. */
export type ParkedSession = {
  /** The object's copy of the log: its start, the PTY's size there, and its end. */
  readonly start: number;
  readonly startSize: TerminalSize;
  readonly end: number;
  readonly title: string;
  /** Absent from an older version: unknown. */
  readonly echo?: { readonly on: boolean; readonly offset: number } | undefined;
  readonly holder: string;
  readonly hasBeenHeld: boolean;
  readonly creator: string;
  readonly answerer: KeptAnswerer;
  readonly nextOrder: number;
  /** Clients that may return, and ids of those that can't. */
  readonly absent: readonly KnownClient[];
  readonly gone: readonly string[];
};

/** Why a session can't park now; undefined if it can. @param isWaitedFor Whether a program's stored wait is pending. */
export function whyAwake(session: RelaySession, nowMs: number, isWaitedFor = false): string | undefined {
  if (session.hasEnded) return "the process has ended";
  // A stopping bridge has no time to wake an object for the exit.
  if (session.secondsLeft !== undefined) return "its bridge is stopping";
  if (session.isScreenPending) return "a snapshot is pending";
  if (session.state.asks.some(({ answer }) => answer === undefined)) return "a person is asked";
  if (session.keyboard.isLent) return "a viewer types";
  if (session.isWatched) return "a program waits";
  if (!session.isUpToDate) return "output is in flight";
  if (!isAnswererSettled(session.state)) return "a late answer is possible";
  let isAttended = isWaitedFor;
  for (const client of session.clients) {
    if (client.presence.phase === "absent") {
      // The input is held only here, until its client returns.
      if (client.input.entries.length > 0) return "input of an absent client waits";
      continue;
    }
    const why =
      client.greeted === undefined
        ? "a client is attaching or has vanished"
        : whyClientAwake(client, client.greeted, nowMs);
    if (why !== undefined) return why;
    if (session.log.endOffset !== client.greeted?.reader.cursor) return "a client is behind";
    isAttended = true;
  }
  return isAttended ? undefined : "no client is attached";
}

function whyClientAwake(
  { input, feed, acknowledges, budget }: ClientRecord,
  { peer, reader, inputAcks }: Greeted,
  nowMs: number,
): string | undefined {
  if (peer.isPaused === true || reader.blockedSinceMs !== undefined || reader.toldSize === undefined)
    return "a client waits";
  if (reader.flow.acked !== reader.cursor) return "output is not acknowledged";
  // Keep an end of input until a greeting confirms it: the bridge may have refused it.
  const isEmpty = input.entries.every(({ kind }) => kind === "eof") && feed.isEmpty;
  const isTaken = isEmpty && input.taken === input.received;
  if (!isTaken || inputAcks.dueMs !== undefined) return "input is in flight";
  if (acknowledges && inputAcks.sent < input.received) return "input is not recorded yet";
  return budget?.isRested(nowMs) === false ? "a client has spent its budget" : undefined;
}

/** The stored state of a session that may park. */
export function parkedSessionOf(session: RelaySession): ParkedSession {
  const { log, keyboard, creator, title } = session;
  return {
    start: log.startOffset,
    startSize: sizeOf(log.sizeAt(log.startOffset)),
    end: log.endOffset,
    title,
    echo: session.state.echo,
    holder: keyboard.holder,
    hasBeenHeld: keyboard.hasBeenHeld,
    creator,
    answerer: keptAnswerer(session.state),
    nextOrder: session.nextOrder,
    absent: [...session.clients].filter((client) => client.presence.phase === "absent").map(knownOf),
    gone: [...session.gone],
  };
}

/** The stored state of a connected client, in a session that may park. */
export function parkedClientOf(client: ClientRecord, { reader, inputStart }: Greeted): ParkedClient {
  const { id, who, order, size, attempt, isActive, inputWindow, input } = client;
  const eof = input.eof === undefined ? undefined : { offset: input.eof, waits: input.waitingEof !== undefined };
  return {
    ...{ id, who, order, isActive, inputWindow, inputStart },
    ...defined({ size: size && sizeOf(size), attempt, eof }),
    toldSize: reader.toldSize ?? { cols: 80, rows: 24 },
    input: input.received,
  };
}

/** Options of a session resumed from its stored state. Its log is still empty. @param logBytes Absent: the default. */
export function unparkedOptions(parked: ParkedSession, logBytes?: number) {
  const { start, startSize, holder, hasBeenHeld, creator } = parked;
  return { log: new OutputLog(startSize, logBytes, start), holder, hasBeenHeld, creator };
}

/** Resumes the session, with all its clients on their existing connections. @param peers In any order. */
export function unpark(
  session: RelaySession,
  { end, title, echo, answerer, nextOrder, absent, gone }: ParkedSession,
  peers: readonly (readonly [ParkedClient, Peer])[],
): void {
  session.title = title;
  session.state.echo = echo;
  session.resume(end, nextOrder, absent, gone);
  // The order of arrival matters for the keyboard.
  for (const [parked, peer] of [...peers].sort(([a], [b]) => a.order - b.order))
    unparkClient(session, parked, end, peer);
  restoreAnswerer(session.state, answerer);
}

/** Resumes one client in a resumed session. @param end End of its output. */
export function unparkClient(session: RelaySession, parked: ParkedClient, end: number, peer: Peer): void {
  const { id, input, eof, size, attempt, isActive, inputWindow, ...at } = parked;
  const queue = new InputQueue("relay", input, eof?.waits === false ? eof.offset : undefined);
  if (eof?.waits === true) queue.pushEof(eof.offset);
  const client = new ClientRecord(id, queue);
  client.size = size;
  client.attempt = attempt;
  client.isActive = isActive;
  if (inputWindow !== undefined) client.inputWindow = inputWindow;
  session.rejoin(client, { ...at, offset: end }, peer);
}

function sizeOf({ cols, rows }: TerminalSize): TerminalSize {
  return { cols, rows };
}

/** Measures how long nothing has happened. The caller passes the time, and counts that change with every event. */
export class QuietWatch {
  readonly #quietMs: number;
  #seen = "";
  #sinceMs = 0;

  /** @param quietMs A session parks after this long without events; infinity: never. */
  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  /** @param counts A text that changes with every event. @returns When the session parks if no event comes. */
  look(counts: string, nowMs: number): number {
    if (counts !== this.#seen) {
      this.#seen = counts;
      this.#sinceMs = nowMs;
    }
    return this.#sinceMs + this.#quietMs;
  }

  /** The session can't park now: waits as long again. */
  postpone(nowMs: number): void {
    this.#sinceMs = nowMs;
  }
}
