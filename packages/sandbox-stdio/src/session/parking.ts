// A session that sleeps while its clients stay: when it may, the stored state of it and of each client, and how it goes on
// from there as if nothing had been. Data only: the session object stores it, and hands it back.

import { InputQueue } from "../input/input-queue.ts";
import { OutputLog } from "../output/output-log.ts";
import type { Attempt } from "../wire/attempt.ts";
import { defined } from "../wire/fields.ts";
import type { KnownClient } from "../wire/inner-messages.ts";
import { isAnswererSettled, type KeptAnswerer, keptAnswerer, restoreAnswerer } from "./answerer.ts";
import { ClientRecord, type ClientWho, knownOf, type TerminalSize } from "./client-record.ts";
import type { Greeted, Peer } from "./presence.ts";
import type { RelaySession } from "./relay-session.ts";

/** The kept state of one client, without its connection's. Can be copied by structure. */
export type ParkedClient = {
  readonly id: string;
  readonly who: ClientWho;
  /** Position in the order of arrival. */
  readonly order: number;
  readonly size?: TerminalSize;
  readonly attempt?: Attempt;
  readonly isActive: boolean;
  /** Absent from an older parking: what any client has. */
  readonly inputWindow?: number;
  /** The PTY's size as it was told last. */
  readonly toldSize: TerminalSize;
  /** All of its input before this is taken and acknowledged. */
  readonly input: number;
  /** Where it has ended its input; `waits`: the bridge has not said so. */
  readonly eof?: { readonly offset: number; readonly waits: boolean };
  /** Where its connection's input is numbered from. */
  readonly inputStart: number;
};

/** The kept state of the session itself. Can be copied by structure. */
export type ParkedSession = {
  /** The log as it was here: where it began, how large the PTY was there, and where it ended. */
  readonly start: number;
  readonly startSize: TerminalSize;
  readonly end: number;
  readonly title: string;
  /** Absent from an older parking: nothing was known. */
  readonly echo?: { readonly on: boolean; readonly offset: number } | undefined;
  readonly holder: string;
  readonly hasBeenHeld: boolean;
  readonly creator: string;
  readonly answerer: KeptAnswerer;
  readonly nextOrder: number;
  /** Clients that are gone and may come back, and those that can't. */
  readonly absent: readonly KnownClient[];
  readonly gone: readonly string[];
};

/** Why a session can't be parked now; undefined: it can. @param isWaitedFor Whether a program waits that is kept, as a client is. */
export function whyAwake(session: RelaySession, nowMs: number, isWaitedFor = false): string | undefined {
  if (session.hasEnded) return "the process has ended";
  // A bridge that stops has no patience for an object that must be called to hear of the exit.
  if (session.secondsLeft !== undefined) return "its bridge stops";
  if (session.isScreenPending) return "a snapshot is on its way";
  if (session.state.asks.some(({ answer }) => answer === undefined)) return "a person is asked";
  if (session.isWatched) return "a program waits";
  if (!session.isUpToDate) return "output is on its way";
  if (!isAnswererSettled(session.state)) return "an answer may be late";
  let isAttended = isWaitedFor;
  for (const client of session.clients) {
    if (client.presence.phase === "absent") {
      // It waits here for its client's return, and nowhere else.
      if (client.input.entries.length > 0) return "input of a client that is gone waits";
      continue;
    }
    const why = client.greeted === undefined ? "a client comes or goes" : whyClientAwake(client, client.greeted, nowMs);
    if (why !== undefined) return why;
    if (session.log.endOffset !== client.greeted?.reader.cursor) return "a client is behind";
    isAttended = true;
  }
  return isAttended ? undefined : "nobody is attached";
}

function whyClientAwake(
  { input, feed, acknowledges, budget }: ClientRecord,
  { peer, reader, inputAcks }: Greeted,
  nowMs: number,
): string | undefined {
  if (peer.isPaused === true || reader.blockedSinceMs !== undefined || reader.toldSize === undefined)
    return "a client waits";
  if (reader.flow.acked !== reader.cursor) return "output is not acknowledged";
  // An end of input stays until a greeting says that the bridge has it: it may have refused it.
  const isEmpty = input.entries.every(({ kind }) => kind === "eof") && feed.isEmpty;
  const isTaken = isEmpty && input.taken === input.received;
  if (!isTaken || inputAcks.dueMs !== undefined) return "input is on its way";
  if (acknowledges && inputAcks.sent < input.received) return "input is not on record";
  return budget?.isRested(nowMs) === false ? "a client has said much" : undefined;
}

/** The state of a session that may be parked. */
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

/** The state of a client with a connection, in a session that may be parked. */
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

/** The options of a session that goes on from there. Its log has yet to come. @param logBytes Absent: the usual. */
export function unparkedOptions(parked: ParkedSession, logBytes?: number) {
  const { start, startSize, holder, hasBeenHeld, creator } = parked;
  return { log: new OutputLog(startSize, logBytes, start), holder, hasBeenHeld, creator };
}

/**
 * The session goes on, with all its clients by the connections that they have.
 * @param peers In any order.
 */
export function unpark(
  session: RelaySession,
  { end, title, echo, answerer, nextOrder, absent, gone }: ParkedSession,
  peers: readonly (readonly [ParkedClient, Peer])[],
): void {
  session.title = title;
  session.state.echo = echo;
  session.goOn(end, nextOrder, absent, gone);
  // The order of arrival counts for the keyboard.
  for (const [parked, peer] of [...peers].sort(([a], [b]) => a.order - b.order))
    unparkClient(session, parked, end, peer);
  restoreAnswerer(session.state, answerer);
}

/** One client goes on, in a session that has gone on. @param end Where its output does. */
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

/** Since when nothing has happened. Told the time, and counts that change with every event. */
export class QuietWatch {
  readonly #quietMs: number;
  #seen = "";
  #sinceMs = 0;

  /** @param quietMs After so long without anything a session is parked; infinity: never. */
  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  /** @param counts A text that changes with every event. @returns When the session parks, if no event comes. */
  look(counts: string, nowMs: number): number {
    if (counts !== this.#seen) {
      this.#seen = counts;
      this.#sinceMs = nowMs;
    }
    return this.#sinceMs + this.#quietMs;
  }

  /** It can't be parked now: it is looked at again after as long a time. */
  postpone(nowMs: number): void {
    this.#sinceMs = nowMs;
  }
}
