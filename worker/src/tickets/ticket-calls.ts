// The API's calls about a session's share tickets: made, listed, revoked, and each put on record.

import type { NewShareTicket, TicketKind, TicketListing } from "../attach/session-calls.ts";
import type { Actor } from "../audit/record.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { SessionStore } from "../records/session-store.ts";
import type { Lifetimes } from "../sockets/lifetimes.ts";
import type { SessionTickets } from "./session-tickets.ts";

export interface TicketPorts {
  readonly store: SessionStore;
  readonly tickets: SessionTickets;
  readonly lifetimes: Lifetimes;
  /** Absent if no audit is kept. */
  readonly audit: SessionAudit | undefined;
  /** Connections may have been ended. */
  changed(): void;
}

export class TicketCalls {
  readonly #ports: TicketPorts;

  constructor(ports: TicketPorts) {
    this.#ports = ports;
  }

  add(ticket: NewShareTicket, by: Actor, kind?: TicketKind): "added" | "no_session" | "too_many" {
    const { tickets, audit } = this.#ports;
    const incarnation = this.#opened(kind);
    if (incarnation === undefined) return "no_session";
    if (!tickets.add(ticket, incarnation, Date.now())) return "too_many";
    const { id, role, guests, expiresAtMs } = ticket;
    const expiresAt = new Date(expiresAtMs).toISOString();
    audit?.note({ type: "share", ticket: id, role, guests, expiresAt }, undefined, by);
    return "added";
  }

  list(kind?: TicketKind): TicketListing[] | undefined {
    const incarnation = this.#opened(kind);
    return incarnation === undefined ? undefined : this.#ports.tickets.list(incarnation, Date.now());
  }

  /** What such tickets open here. */
  #opened(kind: TicketKind | undefined): string | undefined {
    return kind ?? this.#ports.store.record?.facts.incarnation;
  }

  revoke(id: string, by: Actor): boolean {
    const { tickets, lifetimes, audit, changed } = this.#ports;
    if (!tickets.revoke(id)) return false;
    audit?.note({ type: "revoke", ticket: id }, undefined, by);
    lifetimes.revokeTicket(id);
    changed();
    return true;
  }
}
