// Until when each connection may go on: its token's or ticket's end, or its revocation. Told the time; knows no sockets.

import { CLOSE, type ServerConnection } from "@sbx/sandbox-stdio";
import type { Grant } from "./grant.ts";

/** How long before its end a connection is told that it is near. */
const WARNING_MS = 60_000;

type Life = { grant: Grant; isWarned: boolean };

export class Lifetimes {
  readonly #lives = new Map<ServerConnection, Life>();

  add(connection: ServerConnection, grant: Grant): void {
    this.#lives.set(connection, { grant, isWarned: false });
  }

  remove(connection: ServerConnection): void {
    this.#lives.delete(connection);
  }

  grantOf(connection: ServerConnection): Grant | undefined {
    return this.#lives.get(connection)?.grant;
  }

  /** Its bearer has shown a fresh token: from now on that one counts. */
  renew(connection: ServerConnection, grant: Grant): void {
    if (this.#lives.has(connection)) this.#lives.set(connection, { grant, isWarned: false });
  }

  /** When something is due; infinity for nothing. */
  get nextTickMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [connection, { grant, isWarned }] of this.#lives) {
      if (connection.isEnded) continue;
      // It is warned once it has been greeted, and looked at then.
      const mayWarn = !isWarned && connection.client !== undefined;
      next = Math.min(next, mayWarn ? grant.expiresAtMs - WARNING_MS : grant.expiresAtMs);
    }
    return next;
  }

  tick(nowMs: number): void {
    for (const [connection, life] of [...this.#lives]) {
      const leftMs = life.grant.expiresAtMs - nowMs;
      if (leftMs <= 0) {
        const what = life.grant.shareTicket === undefined ? "token" : "token or ticket";
        // Its place is kept: the same person may come back with a fresh token.
        connection.dismiss(CLOSE.unauthenticated, `${what} expired`, "never", "vanished");
      } else if (leftMs <= WARNING_MS && !life.isWarned && connection.client !== undefined) {
        life.isWarned = true;
        connection.send({ type: "expiring", seconds: Math.ceil(leftMs / 1000) });
      }
    }
  }

  /** Ends every connection that a share ticket opened. */
  revokeTicket(id: string): void {
    this.#end("the ticket was revoked", (grant) => grant.shareTicket === id);
  }

  #end(reason: string, isMeant: (grant: Grant) => boolean): void {
    for (const [connection, { grant }] of [...this.#lives]) {
      if (isMeant(grant)) connection.dismiss(CLOSE.unauthenticated, reason, "never", "left");
    }
  }
}
