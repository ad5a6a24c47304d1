// The stored state of a process that has ended: its log, its exit, its last screen, and the clients that were there.

import { knownOf, type Question, type RelaySession } from "sandbox-stdio/core";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { InnerHop } from "../bridge/inner-hop.ts";
import { askProcess, LAST_SCREEN } from "../programs/operations/ask-process.ts";
import { SHORT_LIFE_MS } from "../programs/operations/since.ts";
import type { SessionRecord, SessionStore } from "../records/session-store.ts";

/** How long an end that was asked for may take to be told by the bridge. */
const END_PATIENCE_MS = 3_000;

export interface EndedPorts {
  readonly store: SessionStore;
  /** Absent if no audit is kept. */
  readonly audit: SessionAudit | undefined;
  /** More of the data to be stored is here, or will not come. */
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
   * Once: the process has ended, and all its output is here, and its last screen, where one is wanted.
   * @param nowMs As Date.now().
   * @returns Whether it has been stored just now.
   */
  store(record: SessionRecord, session: RelaySession, nowMs: number): boolean {
    const { store, audit } = this.#ports;
    if (record.exit !== undefined || session.exit === undefined) return false;
    if (this.#inRecord !== record.facts.incarnation) {
      // Before the clients, which are told the exit now, are seen to leave.
      this.#inRecord = record.facts.incarnation;
      const { code, signal } = session.exit;
      audit?.note({ type: "exit", code, ...(signal === undefined ? {} : { signal }) });
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
    void audit?.flush(); // Clients whose input is still on its way there wait for it.
    return true;
  }

  /**
   * Waits until a session that is to end has its exit. The bridge tells it on the inner hop before it confirms the end; both are
   * on their way here.
   */
  async told(session: () => RelaySession | undefined): Promise<void> {
    const deadline = Date.now() + END_PATIENCE_MS;
    while (session()?.exit === undefined && session() !== undefined && this.#hop.isOpen && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Whether what a terminal shows at its end, its shell's commands and when its output came are here, or will not come. */
  #hasLast({ facts, createdAt }: SessionRecord, session: RelaySession, nowMs: number): boolean {
    const { store, changed } = this.#ports;
    // Of a process on pipes only times are kept, unless all came at about one.
    const hasTimes = facts.tty || nowMs - Date.parse(createdAt) > SHORT_LIFE_MS;
    if (!hasTimes || !this.#hop.isOpen) return true;
    if (this.#last?.session !== session) {
      const last = { session, isHere: false };
      this.#last = last;
      const keep = (name: "screen" | "commands", question: Question) =>
        askProcess(this.#hop.client, question).then((json) => json && store.keep(name, json));
      const screen = facts.tty ? keep("screen", LAST_SCREEN) : undefined;
      void Promise.all([screen, keep("commands", { about: "commands" })]).finally(() => {
        last.isHere = true;
        changed();
      });
    }
    return this.#last.isHere;
  }
}
