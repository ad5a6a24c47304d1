// Which tickets of a session still count: the share tickets that were made and not revoked, and the attach tickets that have
// been used. In the session's own storage, so that it survives a restart and one answer holds everywhere.

import type { Grant } from "../attach/grant.ts";
import type { Role } from "../auth/ticket.ts";

/** What the API says of a share ticket. Not the ticket itself: it is told once, to its maker. */
export type TicketListing = {
  readonly id: string;
  readonly role: Role;
  readonly guests: boolean;
  /** Who made it. */
  readonly maker: string;
  readonly createdAt: string;
  readonly expiresAt: string;
};

export type NewShareTicket = {
  readonly id: string;
  readonly role: Role;
  readonly guests: boolean;
  readonly maker: string;
  readonly expiresAtMs: number;
};

/** Share tickets that may be good at one time. */
export const MAX_SHARE_TICKETS = 100;

/** A use is remembered past the ticket's end: the Worker may have found it good a moment ago. */
const USED_KEEP_MS = 60_000;

type Row = {
  readonly id: string;
  readonly role: Role;
  readonly guests: number;
  readonly maker: string;
  readonly made_ms: number;
  readonly expires_ms: number;
};

export class SessionTickets {
  readonly #sql: SqlStorage;
  #hasTables: boolean | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** @returns Whether there was room for it. */
  add(ticket: NewShareTicket, nowMs: number): boolean {
    if (this.list(nowMs).length >= MAX_SHARE_TICKETS) return false;
    const { id, role, guests, maker, expiresAtMs } = ticket;
    this.#makeTables();
    this.#sql.exec(
      "INSERT INTO share_tickets (id, role, guests, maker, made_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?)",
      ...[id, role, guests ? 1 : 0, maker, nowMs, expiresAtMs],
    );
    return true;
  }

  /** Those that are good now, oldest first. */
  list(nowMs: number): TicketListing[] {
    if (!this.#isUsed()) return [];
    this.#sql.exec("DELETE FROM share_tickets WHERE expires_ms <= ?", nowMs);
    const rows = this.#sql.exec<Row>("SELECT * FROM share_tickets ORDER BY made_ms, id").toArray();
    return rows.map(({ id, role, guests, maker, made_ms, expires_ms }) => ({
      ...{ id, role, guests: guests !== 0, maker },
      createdAt: new Date(made_ms).toISOString(),
      expiresAt: new Date(expires_ms).toISOString(),
    }));
  }

  /** @returns Whether there was such a ticket. */
  revoke(id: string): boolean {
    if (!this.#isUsed()) return false;
    return this.#sql.exec("DELETE FROM share_tickets WHERE id = ? RETURNING id", id).toArray().length > 0;
  }

  /** The session is forgotten: no ticket of it opens another of the same name. */
  clear(): void {
    if (this.#isUsed()) this.#sql.exec("DELETE FROM share_tickets");
  }

  /** Whether the grant's ticket, if it rests on one, still counts. An attach ticket has then been used. */
  admit(grant: Grant, nowMs: number): "good" | "used" | "revoked" {
    const { attachTicket, share } = grant;
    if (share !== undefined) {
      if (!this.#isUsed()) return "revoked";
      const rows = this.#sql.exec("SELECT id FROM share_tickets WHERE id = ? AND expires_ms > ?", share.id, nowMs);
      return rows.toArray().length > 0 ? "good" : "revoked";
    }
    if (attachTicket === undefined) return "good";
    this.#makeTables();
    this.#sql.exec("DELETE FROM used_tickets WHERE expires_ms <= ?", nowMs - USED_KEEP_MS);
    const inserted = this.#sql.exec(
      "INSERT INTO used_tickets (id, expires_ms) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id",
      ...[attachTicket.id, attachTicket.expiresAtMs],
    );
    return inserted.toArray().length > 0 ? "good" : "used";
  }

  // Made with the first ticket: whoever waits for a new session does not wait for tables.

  #isUsed(): boolean {
    this.#hasTables ??= this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'used_tickets'").toArray().length > 0;
    return this.#hasTables;
  }

  #makeTables(): void {
    if (this.#isUsed()) return;
    this.#sql.exec(`CREATE TABLE share_tickets (id TEXT PRIMARY KEY, role TEXT NOT NULL, guests INTEGER NOT NULL,
      maker TEXT NOT NULL, made_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL)`);
    this.#sql.exec("CREATE TABLE used_tickets (id TEXT PRIMARY KEY, expires_ms INTEGER NOT NULL)");
    this.#hasTables = true;
  }
}
