// The sessions of a sandbox's codex clients (E2): whose each is, and its processes. In the storage of one object, so that a client may
// come back after any restart.

import { earliest } from "sandbox-stdio/core";
import type { CodexPlace } from "../attach/codex-spec.ts";

export type CodexSession = {
  readonly person: string;
  /** What its client was told of the sandbox. */
  readonly surroundings: object;
  /** The last client's: its processes are ended in its name. */
  readonly place: CodexPlace;
  /** When a connection of its was open last, as Date.now(). */
  readonly seenMs: number;
};

export type CodexProcess = {
  readonly processId: string;
  /** The session's name whose process it is. */
  readonly name: string;
  /** Whether its standard input was left open. */
  readonly hasInput: boolean;
  /** Chunks before and at this number were sent to a client. */
  readonly sent: number;
  readonly isClosed: boolean;
};

/** How long a session is kept after its last connection. */
const KEEP_MS = 24 * 60 * 60_000;
const SESSION = "codex session ";
const PROCESS = "codex process ";

export class CodexStore {
  readonly #kv: SyncKvStorage;
  /** Read when it is needed: most objects have none. */
  #sessions: Map<string, CodexSession> | undefined;
  readonly #processes = new Map<string, Map<string, CodexProcess>>();

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
  }

  /** @returns undefined if there is none, or it has expired. */
  session(id: string, nowMs: number): CodexSession | undefined {
    const session = this.#all.get(id);
    return session !== undefined && session.seenMs + KEEP_MS > nowMs ? session : undefined;
  }

  put(id: string, session: CodexSession): void {
    this.#all.set(id, session);
    this.#kv.put(SESSION + id, session);
  }

  /** A connection of its is open, or was until now. */
  seen(id: string, seenMs: number): void {
    const session = this.#all.get(id);
    if (session !== undefined) this.put(id, { ...session, seenMs });
  }

  /** When the next session expires, unless it is seen; infinity for never. */
  get dueMs(): number {
    return earliest([...this.#all.values()].map(({ seenMs }) => seenMs + KEEP_MS));
  }

  /** Forgets those that have expired. @returns Each with the names of its processes' sessions that may run. */
  expire(nowMs: number): { readonly place: CodexPlace; readonly names: readonly string[] }[] {
    const expired = [...this.#all].filter(([, { seenMs }]) => seenMs + KEEP_MS <= nowMs);
    return expired.map(([id, { place }]) => {
      const processes = [...this.processes(id).values()];
      for (const { name } of processes) this.#kv.delete(`${PROCESS}${id} ${name}`);
      this.#kv.delete(SESSION + id);
      this.#all.delete(id);
      this.#processes.delete(id);
      return { place, names: processes.filter(({ isClosed }) => !isClosed).map(({ name }) => name) };
    });
  }

  putProcess(id: string, process: CodexProcess): void {
    this.processes(id).set(process.name, process);
    this.#kv.put(`${PROCESS}${id} ${process.name}`, process);
  }

  /** The process did not start. */
  removeProcess(id: string, name: string): void {
    this.processes(id).delete(name);
    this.#kv.delete(`${PROCESS}${id} ${name}`);
  }

  get #all(): Map<string, CodexSession> {
    this.#sessions ??= this.#listed<CodexSession>(SESSION);
    return this.#sessions;
  }

  /** Processes of a codex session, by the names of their sessions. */
  processes(id: string): Map<string, CodexProcess> {
    const known = this.#processes.get(id) ?? this.#listed<CodexProcess>(`${PROCESS}${id} `);
    this.#processes.set(id, known);
    return known;
  }

  #listed<T>(prefix: string): Map<string, T> {
    return new Map([...this.#kv.list<T>({ prefix })].map(([key, value]) => [key.slice(prefix.length), value]));
  }
}
