// The sessions of a sandbox's codex clients (E2): whose each is, and its processes. In the storage of one object, so that a client may
// come back after any restart.

import type { CodexPlace } from "../attach/codex-spec.ts";

export type CodexSession = { readonly id: string; readonly person: string };

/** What is kept of one beside that. */
export type KeptSession = CodexSession & {
  /** What its client was told of the sandbox, as JSON. */
  readonly surroundings: string;
  /** The last client's: its processes are ended in its name. */
  readonly place: CodexPlace;
};

export type CodexProcess = {
  readonly processId: string;
  /** The session's name whose process it is. */
  readonly name: string;
  readonly isTty: boolean;
  /** Whether its standard input was left open. */
  readonly hasInput: boolean;
  /** Chunks before and at this number were sent to a client. */
  readonly sent: number;
  readonly isClosed: boolean;
};

/** How long a session is kept after its last connection. */
const KEEP_MS = 24 * 60 * 60_000;

type Row = { process: string; name: string; tty: number; input: number; sent: number; closed: number };

export class CodexStore {
  readonly #sql: SqlStorage;
  #hasTables: boolean | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  make({ id, person, surroundings, place }: KeptSession, nowMs: number): void {
    this.#makeTables();
    const insert = "INSERT INTO codex_sessions (id, person, surroundings, place, seen_ms) VALUES (?, ?, ?, ?, ?)";
    this.#sql.exec(insert, id, person, surroundings, JSON.stringify(place), nowMs);
  }

  cameBack(id: string, place: CodexPlace, nowMs: number): void {
    const update = "UPDATE codex_sessions SET place = ?, seen_ms = ? WHERE id = ?";
    this.#sql.exec(update, JSON.stringify(place), nowMs, id);
  }

  /** What a client of the session was told of the sandbox, as JSON. */
  surroundings(id: string): string | undefined {
    return this.#text("surroundings", id);
  }

  place(id: string): CodexPlace | undefined {
    const text = this.#text("place", id);
    return text === undefined ? undefined : (JSON.parse(text) as CodexPlace);
  }

  #text(column: "surroundings" | "place", id: string): string | undefined {
    if (!this.#isUsed()) return undefined;
    const query = `SELECT ${column} AS text FROM codex_sessions WHERE id = ?`;
    return this.#sql.exec<{ text: string }>(query, id).toArray()[0]?.text;
  }

  /** Whether the person has such a session, that has not expired. */
  has({ id, person }: CodexSession, nowMs: number): boolean {
    if (!this.#isUsed()) return false;
    const query = "SELECT 1 FROM codex_sessions WHERE id = ? AND person = ? AND seen_ms > ?";
    return this.#sql.exec(query, id, person, nowMs - KEEP_MS).toArray().length > 0;
  }

  /** A connection of its is open, or was until now. */
  seen(id: string, nowMs: number): void {
    this.#sql.exec("UPDATE codex_sessions SET seen_ms = ? WHERE id = ?", nowMs, id);
  }

  /** When the next session expires, unless it is seen; infinity for never. */
  get dueMs(): number {
    if (!this.#isUsed()) return Number.POSITIVE_INFINITY;
    const [row] = this.#sql
      .exec<{ first: number | null }>("SELECT min(seen_ms) AS first FROM codex_sessions")
      .toArray();
    return typeof row?.first === "number" ? row.first + KEEP_MS : Number.POSITIVE_INFINITY;
  }

  expired(nowMs: number): string[] {
    if (!this.#isUsed()) return [];
    const rows = this.#sql.exec<{ id: string }>("SELECT id FROM codex_sessions WHERE seen_ms <= ?", nowMs - KEEP_MS);
    return rows.toArray().map(({ id }) => id);
  }

  forget(id: string): void {
    this.#sql.exec("DELETE FROM codex_processes WHERE session = ?", id);
    this.#sql.exec("DELETE FROM codex_sessions WHERE id = ?", id);
  }

  // ---- Processes ---------------------------------------------------------------------------------------------------

  processes(session: string): CodexProcess[] {
    const query =
      "SELECT process, name, tty, input, sent, closed FROM codex_processes WHERE session = ? ORDER BY rowid";
    return this.#sql.exec<Row>(query, session).toArray().map(processOf);
  }

  process(session: string, processId: string): CodexProcess | undefined {
    const query =
      "SELECT process, name, tty, input, sent, closed FROM codex_processes WHERE session = ? AND process = ?";
    const [row] = this.#sql.exec<Row>(query, session, processId).toArray();
    return row && processOf(row);
  }

  runningCount(session: string): number {
    const query = "SELECT count(*) AS n FROM codex_processes WHERE session = ? AND closed = 0";
    return this.#sql.exec<{ n: number }>(query, session).one().n;
  }

  add(session: string, { processId, name, isTty, hasInput }: CodexProcess): void {
    const insert = `INSERT OR IGNORE INTO codex_processes (session, process, name, tty, input, sent, closed)
      VALUES (?, ?, ?, ?, ?, 0, 0)`;
    this.#sql.exec(insert, session, processId, name, isTty ? 1 : 0, hasInput ? 1 : 0);
  }

  /** It did not start. */
  remove(session: string, processId: string): void {
    this.#sql.exec("DELETE FROM codex_processes WHERE session = ? AND process = ?", session, processId);
  }

  sent(session: string, processId: string, sent: number, isClosed: boolean): void {
    const update =
      "UPDATE codex_processes SET sent = max(sent, ?), closed = max(closed, ?) WHERE session = ? AND process = ?";
    this.#sql.exec(update, sent, isClosed ? 1 : 0, session, processId);
  }

  // Made with the first session: most objects never have one.

  #isUsed(): boolean {
    const query = "SELECT 1 FROM sqlite_master WHERE name = 'codex_sessions'";
    this.#hasTables ??= this.#sql.exec(query).toArray().length > 0;
    return this.#hasTables;
  }

  #makeTables(): void {
    if (this.#isUsed()) return;
    this.#sql.exec(`CREATE TABLE codex_sessions (id TEXT PRIMARY KEY, person TEXT NOT NULL,
      surroundings TEXT NOT NULL, place TEXT NOT NULL, seen_ms INTEGER NOT NULL)`);
    this.#sql.exec(`CREATE TABLE codex_processes (session TEXT NOT NULL, process TEXT NOT NULL, name TEXT NOT NULL,
      tty INTEGER NOT NULL, input INTEGER NOT NULL, sent INTEGER NOT NULL, closed INTEGER NOT NULL,
      PRIMARY KEY (session, process))`);
    this.#hasTables = true;
  }
}

function processOf({ process, name, tty, input, sent, closed }: Row): CodexProcess {
  return { processId: process, name, isTty: tty !== 0, hasInput: input !== 0, sent, isClosed: closed !== 0 };
}
