// Stores a session's process while it runs without this object, when it is lost, and when it has ended: log, exit, last screen
// and clients.

import { defined, knownOf, type Question, type RelaySession } from "sandbox-stdio/core";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { InnerHop } from "../bridge/inner-hop.ts";
import { askProcess, LAST_SCREEN } from "../programs/operations/ask-process.ts";
import { SHORT_LIFE_MS } from "../programs/operations/since.ts";
import { writersOf } from "../records/session-listing.ts";
import { isOver, type KeptAnswer, type SessionRecord, type SessionStore } from "../records/session-store.ts";
import { type LifeEnv, type LifeEvent, type LifeFacts, noteLife } from "../refusal/life.ts";
import type { LastLooks } from "./last-looks.ts";

// ---- While it runs -------------------------------------------------------------------------------------------------

/** Stores a process that continues without its session. */
export function storeLeft(
  store: SessionStore,
  looks: LastLooks,
  record: SessionRecord,
  session: RelaySession,
  hasBell: boolean,
): void {
  const { log, title, lastOutputMs } = session;
  // Nothing new arrived, so nothing has to be stored.
  if (log.endOffset !== record.offset || !store.hasLog) store.saveLog(log);
  looks.store();
  const stand = { offset: log.endOffset, size: log.sizeAt(log.endOffset), title, lastOutputMs };
  store.record = { ...record, ...stand, hasBell, clients: writersOf(session) };
}

/**
 * Stores that the process is gone without an exit.
 * @param session Undefined if there was no client; then the stored state stays.
 * @param nowMs As Date.now().
 */
export function storeLost(
  store: SessionStore,
  looks: LastLooks,
  record: SessionRecord,
  session: RelaySession | undefined,
  nowMs: number,
): SessionRecord {
  if (session !== undefined) store.saveLog(session.log);
  looks.store();
  const offset = session?.log.endOffset ?? record.offset;
  const { title = "", lastOutputMs } = session ?? record;
  const lost = { ...record, offset, lostAtMs: nowMs, title, lastOutputMs };
  store.record = lost;
  return lost;
}

// ---- Unnamed sessions ----------------------------------------------------------------------------------------------

/** A client has attached to the session. */
export function noteAttached(store: SessionStore): void {
  const { record } = store;
  if (record?.desertedAtMs !== undefined) store.record = { ...record, desertedAtMs: undefined };
}

/**
 * The last client has closed its connection. No other client can find an unnamed session, so it ends unless its client
 * reconnects soon (L7a).
 * @returns Whether the session now has an end time.
 */
export function noteDeserted(store: SessionStore, nowMs: number): boolean {
  const { record } = store;
  if (record?.isUnnamed !== true || record.exit !== undefined) return false;
  store.record = { ...record, desertedAtMs: nowMs };
  return true;
}

/** When a deserted session ends, as Date.now(); undefined if it doesn't. @param graceMs Time for its client to reconnect. */
export function desertedEndMs(record: SessionRecord, graceMs: number): number | undefined {
  return record.desertedAtMs === undefined || isOver(record) ? undefined : record.desertedAtMs + graceMs;
}

// ---- At its end ----------------------------------------------------------------------------------------------------

/** How long to wait for the bridge to confirm a requested end. */
const END_PATIENCE_MS = 3_000;

const ALL = Number.MAX_SAFE_INTEGER;
const ALL_CHUNKS: Question = { about: "chunks", after: 0, to: ALL, most: ALL };

export interface EndedPorts {
  readonly store: SessionStore;
  /** Absent if no audit is kept. */
  readonly audit: SessionAudit | undefined;
  /** More of the data to be stored has arrived, or will not arrive. */
  changed(): void;
}

export class EndedProcess {
  readonly #ports: EndedPorts;
  readonly #hop: InnerHop;
  #last: { readonly session: RelaySession; isHere: boolean } | undefined;
  /** The incarnation whose exit is on record. */
  #inRecord: string | undefined;

  constructor(ports: EndedPorts, hop: InnerHop) {
    this.#ports = ports;
    this.#hop = hop;
  }

  /**
   * Stores the exit once, when all output and, if wanted, the last screen have arrived.
   * @param nowMs As Date.now().
   * @returns Whether it has been stored just now.
   */
  store(record: SessionRecord, session: RelaySession, nowMs: number): boolean {
    const { store, audit } = this.#ports;
    if (record.exit !== undefined || session.exit === undefined) return false;
    if (this.#inRecord !== record.facts.incarnation) {
      // Before the clients leave, which they do once they are told the exit.
      this.#inRecord = record.facts.incarnation;
      const { code, signal } = session.exit;
      audit?.note({ type: "exit", code, ...defined({ signal }) });
    }
    if (!session.isSettled || !this.#hasLast(record, session, nowMs)) return false;
    store.saveLog(session.log);
    if (session.lastScreen !== undefined) store.lastScreen = session.lastScreen;
    const clients = [...session.clients].map(knownOf);
    const { log, exit } = session;
    const { title, lastOutputMs } = session;
    const size = log.sizeAt(log.endOffset);
    const stand = { offset: log.endOffset, size, title, lastOutputMs };
    store.record = { ...record, ...stand, exit, exitedAtMs: nowMs, clients };
    void audit?.flush(); // Clients wait until their input is on record.
    return true;
  }

  /**
   * Waits for the exit of a session that is being ended. The bridge sends it on the inner hop before it confirms the end.
   */
  async told(session: () => RelaySession | undefined): Promise<void> {
    const deadline = Date.now() + END_PATIENCE_MS;
    while (session()?.exit === undefined && session() !== undefined && this.#hop.isOpen && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Whether the last screen, the shell's commands and the output's times have arrived, or will not arrive. */
  #hasLast({ facts, createdAt, program }: SessionRecord, session: RelaySession, nowMs: number): boolean {
    const { store, changed } = this.#ports;
    // For pipes only the times are kept, and not if all output arrived at about the same time.
    const hasTimes = facts.tty || nowMs - Date.parse(createdAt) > SHORT_LIFE_MS;
    const isChunked = program?.isChunked === true;
    if ((!hasTimes && !isChunked) || !this.#hop.isOpen) return true;
    if (this.#last?.session !== session) {
      const last = { session, isHere: false };
      this.#last = last;
      const keep = (name: KeptAnswer, question: Question) =>
        askProcess(this.#hop.client, question).then((json) => json && store.keep(name, json));
      const screen = facts.tty ? keep("screen", LAST_SCREEN) : undefined;
      const chunks = isChunked ? keep("chunks", ALL_CHUNKS) : undefined;
      void Promise.all([screen, chunks, keep("commands", { about: "commands" })]).finally(() => {
        last.isHere = true;
        changed();
      });
    }
    return this.#last.isHere;
  }
}

// ---- For the log ---------------------------------------------------------------------------------------------------

/** Logs a line about the session, from its record. */
export function noteSession(
  env: LifeEnv,
  event: LifeEvent,
  { homeKey: tenant, sandboxKey: sandbox, facts: { session, incarnation }, createdAt }: SessionRecord,
  more: Pick<LifeFacts, "request" | "code" | "bytes"> = {},
): void {
  const { request, ...rest } = more;
  const ms = Date.now() - Date.parse(createdAt);
  noteLife(env, event, { request, tenant, sandbox, session, incarnation, ms, ...rest });
}
