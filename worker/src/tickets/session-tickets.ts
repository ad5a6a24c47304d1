// The tickets of a session that still count: the share tickets that were made and not revoked, and the attach tickets that have
// been used. In the session's own storage, so that it survives a restart and one answer holds everywhere.

import type { Party } from "sandbox-stdio/core";
import type { Grant } from "../attach/grant.ts";
import type { NewShareTicket, TicketListing } from "../attach/session-calls.ts";
import type { Role } from "../auth/ticket.ts";

/** Share tickets that may be good at one time. */
export const MAX_SHARE_TICKETS = 100;

/** A use is remembered past the ticket's end: the Worker may have found it good a moment ago. */
const USED_KEEP_MS = 60_000;

/** Keys of the tickets that give the recording: an earlier version's table has no column for it. */
const WITH_RECORDING = "ticket with recording/";

type Row = {
  readonly id: string;
  /** The process that it opens: another one under the session's name is none of its. */
  readonly incarnation: string;
  readonly role: Role;
  readonly guests: number;
  readonly max_clients: number;
  readonly maker: string;
  readonly made_ms: number;
  readonly expires_ms: number;
};

/** `removed`: there is no session; `replaced`: the ticket is of an earlier process of its name. */
export type TicketState = "good" | "used" | "revoked" | "removed" | "replaced";

export class SessionTickets {
  readonly #sql: SqlStorage;
  readonly #kv: SyncKvStorage;
  #hasTables: boolean | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    this.#kv = storage.kv;
  }

  /** Makes a ticket for this process count. @returns Whether there was room for it. */
  add(ticket: NewShareTicket, incarnation: string, nowMs: number): boolean {
    if (this.list(incarnation, nowMs).length >= MAX_SHARE_TICKETS) return false;
    const { id, role, guests, maxClients, maker, expiresAtMs, recording } = ticket;
    this.#makeTables();
    if (recording) this.#kv.put(WITH_RECORDING + id, true);
    this.#sql.exec(
      `INSERT INTO shares (id, incarnation, role, guests, max_clients, maker, made_ms, expires_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, incarnation, role, guests ? 1 : 0, maxClients, maker, nowMs, expiresAtMs],
    );
    return true;
  }

  /** Valid tickets of this process, oldest first. */
  list(incarnation: string, nowMs: number): TicketListing[] {
    if (!this.#isUsed()) return [];
    this.#sql.exec("DELETE FROM shares WHERE expires_ms <= ? OR incarnation != ?", nowMs, incarnation);
    const rows = this.#sql.exec<Row>("SELECT * FROM shares ORDER BY made_ms, id").toArray();
    return rows.map(({ id, role, guests, max_clients, maker, made_ms, expires_ms }) => ({
      ...{ id, role, guests: guests !== 0, maxClients: max_clients, maker },
      ...(this.givesRecording(id) ? { recording: true as const } : {}),
      createdAt: new Date(made_ms).toISOString(),
      expiresAt: new Date(expires_ms).toISOString(),
    }));
  }

  /** @returns Whether there was such a ticket. */
  revoke(id: string): boolean {
    if (!this.#isUsed()) return false;
    this.#kv.delete(WITH_RECORDING + id);
    return this.#sql.exec("DELETE FROM shares WHERE id = ? RETURNING id", id).toArray().length > 0;
  }

  /** The session is forgotten: no ticket of it opens another of the same name. */
  clear(): void {
    if (!this.#isUsed()) return;
    this.#sql.exec("DELETE FROM shares");
    for (const [key] of [...this.#kv.list({ prefix: WITH_RECORDING })]) this.#kv.delete(key);
  }

  /** Whether the ticket was made to give the recording, too. Says nothing of whether it is good. */
  givesRecording(id: string): boolean {
    return this.#kv.get(WITH_RECORDING + id) === true;
  }

  /** The share ticket of this id, where it is good now, and opens this process. */
  share(id: string, incarnation: string | undefined, nowMs: number): Party | undefined {
    if (incarnation === undefined || !this.#isUsed()) return undefined;
    const found = "SELECT max_clients FROM shares WHERE id = ? AND incarnation = ? AND expires_ms > ?";
    const [row] = this.#sql.exec<Pick<Row, "max_clients">>(found, id, incarnation, nowMs).toArray();
    return row && { id, maxClients: row.max_clients };
  }

  /**
   * Whether the grant's ticket, if it rests on one, still counts. Stores nothing: see {@link use}.
   * @param incarnation The process that there is, if there is one.
   */
  look({ attachTicket, share }: Grant, incarnation: string | undefined, nowMs: number): TicketState {
    if (share !== undefined) return this.#lookShare(share.id, incarnation, nowMs);
    if (attachTicket === undefined || !this.#isUsed()) return "good";
    const found = this.#sql.exec("SELECT 1 FROM used_tickets WHERE id = ?", attachTicket.id).toArray();
    return found.length > 0 ? "used" : "good";
  }

  #lookShare(id: string, incarnation: string | undefined, nowMs: number): TicketState {
    if (incarnation === undefined) return "removed";
    if (this.share(id, incarnation, nowMs) !== undefined) return "good";
    if (!this.#isUsed()) return "revoked";
    const found = this.#sql.exec("SELECT 1 FROM shares WHERE id = ? AND incarnation != ?", id, incarnation).toArray();
    return found.length > 0 ? "replaced" : "revoked";
  }

  /** Uses the grant's attach ticket, if it rests on one. @returns Whether it was good until now. */
  use({ attachTicket }: Grant, nowMs: number): boolean {
    if (attachTicket === undefined) return true;
    this.#makeTables();
    this.#sql.exec("DELETE FROM used_tickets WHERE expires_ms <= ?", nowMs - USED_KEEP_MS);
    const inserted = this.#sql.exec(
      "INSERT INTO used_tickets (id, expires_ms) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id",
      ...[attachTicket.id, attachTicket.expiresAtMs],
    );
    return inserted.toArray().length > 0;
  }

  // Made with the first ticket: a client of a new session does not wait for tables.

  #isUsed(): boolean {
    this.#hasTables ??= this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'shares'").toArray().length > 0;
    return this.#hasTables;
  }

  #makeTables(): void {
    if (this.#isUsed()) return;
    this.#sql.exec(`CREATE TABLE shares (id TEXT PRIMARY KEY, incarnation TEXT NOT NULL, role TEXT NOT NULL,
      guests INTEGER NOT NULL, max_clients INTEGER NOT NULL, maker TEXT NOT NULL, made_ms INTEGER NOT NULL,
      expires_ms INTEGER NOT NULL)`);
    this.#sql.exec("CREATE TABLE IF NOT EXISTS used_tickets (id TEXT PRIMARY KEY, expires_ms INTEGER NOT NULL)");
    this.#hasTables = true;
  }
}
