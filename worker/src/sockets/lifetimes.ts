// Until when each connection may go on: the end of its token or ticket, or a revocation. Told the time; knows no sockets.

import { CLOSE, type ServerConnection } from "sandbox-stdio/core";
import type { Pass } from "../attach/entry-limits.ts";
import type { Grant } from "../attach/grant.ts";
import { concerns, type Revocation } from "../limits/revocation.ts";

/** How long before its end a connection is warned. */
const WARNING_MS = 60_000;
/** An issuer that does not answer is asked again after this long. Until then its last word holds, and the token's end. */
const ASK_AGAIN_MS = 10_000;
/** A connection that was let in just before a revocation may get here after it. */
const REMEMBERED_MS = 60_000;

/** The thing to end: a client's connection to a session, or one that is passed on to another program. */
export type Bounded = Pick<ServerConnection, "isEnded" | "dismiss"> & {
  /** Whether it has been let in, and may be told something. */
  readonly client?: unknown;
  send?: ServerConnection["send"];
};

export type Life = {
  grant: Grant;
  readonly pass: Pass;
  isWarned: boolean;
  /** When to warn that its end is near. */
  warnAtMs: number;
  /** When to ask the issuer of an opaque token again; infinity for other tokens. */
  askAtMs: number;
};

type Remembered = { readonly revocation: Revocation; readonly by: string; readonly untilMs: number };

export class Lifetimes {
  readonly #lives = new Map<Bounded, Life>();
  #revoked: Remembered[] = [];

  /** @param isWarned Whether it has been told that its end is near. */
  add(connection: Bounded, grant: Grant, pass: Pass, isWarned = false): void {
    const warnAtMs = grant.expiresAtMs - WARNING_MS;
    const life = { grant, pass, isWarned, warnAtMs, askAtMs: askAtMs(grant) };
    this.#lives.set(connection, life);
    const now = Date.now();
    this.#revoked = this.#revoked.filter(({ untilMs }) => untilMs > now);
    for (const { revocation, by } of this.#revoked) this.#endRevoked(connection, life, revocation, by);
  }

  /** @returns The known life of the connection, if it was not removed before. */
  remove(connection: Bounded): Life | undefined {
    const life = this.#lives.get(connection);
    this.#lives.delete(connection);
    return life;
  }

  get(connection: Bounded): Life | undefined {
    return this.#lives.get(connection);
  }

  /** The client has presented a fresh token, which replaces the old one. */
  renew(connection: Bounded, grant: Grant): void {
    const life = this.#lives.get(connection);
    if (life === undefined) return;
    if (grant.expiresAtMs !== life.grant.expiresAtMs) {
      // Else a bearer of tokens that never live longer than the warning would be warned, and show another, without end.
      const nowMs = Date.now();
      life.warnAtMs = Math.max(grant.expiresAtMs - WARNING_MS, nowMs + (grant.expiresAtMs - nowMs) / 2);
      life.isWarned = false;
    }
    life.grant = grant;
    life.askAtMs = askAtMs(grant);
  }

  /** Filters these connection ids for open ones. */
  open(ids: readonly string[]): string[] {
    const wanted = new Set(ids);
    const open: string[] = [];
    for (const [connection, { pass }] of this.#lives) {
      if (wanted.has(pass.connection) && !connection.isEnded) open.push(pass.connection);
    }
    return open;
  }

  /** When something is due; infinity for nothing. */
  get nextTickMs(): number {
    let next = this.nextEndMs;
    for (const [connection, { askAtMs }] of this.#lives) if (!connection.isEnded) next = Math.min(next, askAtMs);
    return next;
  }

  /** When to warn or end a connection, apart from issuers' answers; infinity for never. */
  get nextEndMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [connection, { grant, isWarned, warnAtMs }] of this.#lives) {
      if (connection.isEnded) continue;
      // A client is warned only after its greeting, which triggers the next check.
      const mayWarn = !isWarned && connection.client !== undefined;
      next = Math.min(next, mayWarn ? warnAtMs : grant.expiresAtMs);
    }
    return next;
  }

  /** Whether an issuer should have been asked about a token by now. */
  isStale(nowMs: number): boolean {
    return [...this.#lives].some(([connection, { askAtMs }]) => !connection.isEnded && askAtMs <= nowMs);
  }

  tick(nowMs: number): void {
    for (const [connection, life] of [...this.#lives]) {
      const leftMs = life.grant.expiresAtMs - nowMs;
      if (leftMs <= 0) {
        const isTicket = life.grant.share?.expiresAtMs === life.grant.expiresAtMs;
        // Its place is kept: the same person may come back with a fresh token.
        connection.dismiss(CLOSE.unauthenticated, `${isTicket ? "ticket" : "token"} expired`, "never", "vanished");
      } else if (nowMs >= life.warnAtMs && !life.isWarned && connection.client !== undefined) {
        life.isWarned = true;
        connection.send?.({ type: "expiring", seconds: Math.ceil(leftMs / 1000) });
      }
    }
  }

  /** Connections whose issuer to ask about their token now. Each is returned once until it is due again. */
  *toAskAbout(nowMs: number): IterableIterator<readonly [Bounded, Grant]> {
    for (const [connection, life] of this.#lives) {
      if (life.askAtMs > nowMs || connection.isEnded) continue;
      life.askAtMs = nowMs + ASK_AGAIN_MS;
      yield [connection, life.grant];
    }
  }

  /** Ends every connection that a share ticket opened. */
  revokeTicket(id: string): void {
    for (const [connection, { grant }] of [...this.#lives]) {
      if (grant.share?.id === id) connection.dismiss(CLOSE.unauthenticated, "the ticket was revoked", "never", "left");
    }
  }

  /** Ends every connection that rests on the revoked right. @param by The tenant that revoked it. */
  revoke(revocation: Revocation, by: string): void {
    this.#revoked.push({ revocation, by, untilMs: Date.now() + REMEMBERED_MS });
    for (const [connection, life] of [...this.#lives]) this.#endRevoked(connection, life, revocation, by);
  }

  #endRevoked(connection: Bounded, { grant, pass }: Life, revocation: Revocation, by: string): void {
    // A tenant has a say in its own sessions, and about its own people elsewhere.
    const revocable = by === pass.homeKey ? grant : by === pass.ownKey ? grant.own : undefined;
    if (revocable === undefined || !concerns(revocation, revocable, Date.now())) return;
    connection.dismiss(CLOSE.unauthenticated, "access was revoked", "never", "left");
  }
}

function askAtMs(grant: Grant): number {
  return grant.opaque?.believedUntilMs ?? Number.POSITIVE_INFINITY;
}
