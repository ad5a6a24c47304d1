// Keeps a connection alive beyond its token's expiry: with a fresh token from the client, or, for an opaque token, with
// another answer of its issuer.

import { CLOSE, type ServerConnection } from "sandbox-stdio/core";
import { revocablePart } from "../attach/entry-limits.ts";
import { type Grant, grantOfAttachTicket, renewed } from "../attach/grant.ts";
import { askProject, openProject, type ProjectEnv } from "../auth/project-gate.ts";
import { authProvider, readEntrySettings } from "../auth/provider.ts";
import type { AuthEnv } from "../auth/settings.ts";
import { isTicketShaped, openTicket } from "../auth/ticket.ts";
import type { TenantsEnv } from "../limits/limit-calls.ts";
import { AuthFault, logFault } from "../refusal/fault.ts";
import type { Bounded, Life, Lifetimes } from "../sockets/lifetimes.ts";
import type { SessionTickets } from "../tickets/session-tickets.ts";

/** The variables that verifying a fresh token needs. */
export type RenewalEnv = AuthEnv & ProjectEnv & TenantsEnv;

export type RenewalsOptions = {
  readonly env: RenewalEnv;
  readonly lifetimes: Lifetimes;
  readonly tickets: SessionTickets;
  /** The session's own name as a Durable Object. */
  readonly sessionKey: string;
  /** The sandbox's name; undefined where there is no session. */
  readonly sandbox: () => string | undefined;
  /** Something is due at another time than before. */
  readonly changed: () => void;
};

export class Renewals {
  readonly #options: RenewalsOptions;
  /** Allows one check at a time for each connection, since a client could ask for any number. */
  readonly #busy = new WeakSet<ServerConnection>();
  #asking = 0;

  constructor(options: RenewalsOptions) {
    this.#options = options;
  }

  /** Whether a token is being checked. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  /** A client has shown a fresh token, or an attach ticket made with one. */
  async auth(connection: ServerConnection, token: string): Promise<void> {
    const { lifetimes, changed } = this.#options;
    const life = lifetimes.get(connection);
    if (life === undefined) return;
    this.#asking += 1;
    try {
      if (this.#busy.has(connection)) throw new AuthFault("bad_request", "Another token is being looked at");
      this.#busy.add(connection);
      const grant = await this.#freshGrant(token, life).finally(() => this.#busy.delete(connection));
      await this.#requireUnrevoked(grant, life);
      lifetimes.renew(connection, grant);
    } catch (error) {
      if (!(error instanceof AuthFault)) throw error;
      logFault(error);
      connection.send({ type: "error", code: "not_allowed", message: `the token was not taken: ${error.message}` });
    } finally {
      this.#asking -= 1;
    }
    changed();
  }

  /** Asks the issuers about tokens that are due for another check. */
  async askIssuers(nowMs: number): Promise<void> {
    const { lifetimes, changed } = this.#options;
    const due = [...lifetimes.toAskAbout(nowMs)];
    if (due.length === 0) return;
    this.#asking += 1;
    try {
      await Promise.all(due.map(([connection, grant]) => this.#askIssuer(connection, grant)));
    } finally {
      this.#asking -= 1;
    }
    changed();
  }

  async #askIssuer(connection: Bounded, grant: Grant): Promise<void> {
    const { env, lifetimes } = this.#options;
    if (grant.opaque === undefined) return;
    try {
      const { opaque } = await authProvider().verify(grant.opaque.token, env);
      // Unless a fresh token has arrived meanwhile.
      if (opaque !== undefined && lifetimes.get(connection)?.grant === grant) {
        lifetimes.renew(connection, { ...grant, opaque });
      }
    } catch (error) {
      if (!(error instanceof AuthFault)) throw error;
      // Without an answer, the issuer is asked again soon; the token's expiry still holds.
      if (error.status === 503) logFault(error);
      else if (lifetimes.get(connection)?.grant === grant)
        connection.dismiss(CLOSE.unauthenticated, "the token is not valid any more", "never", "left");
    }
  }

  async #freshGrant(token: string, { grant, pass }: Life): Promise<Grant> {
    const { env, tickets, sessionKey, sandbox } = this.#options;
    const settings = readEntrySettings(env);
    if (!isTicketShaped(token)) {
      const fresh = renewed(grant, await authProvider().verify(token, env));
      await askProject(env, token, sandbox() ?? "");
      return fresh;
    }
    const ticket = await openTicket(token, settings.sessionSecret);
    if (ticket.kind !== "attach") throw new AuthFault("bad_ticket", "Only an attach ticket renews a connection");
    if (ticket.origin !== grant.origin) throw new AuthFault("bad_origin", "The ticket is of another origin");
    const fresh = grantOfAttachTicket(ticket, grant.origin);
    const isSame = fresh.subject === grant.subject && ticket.tenant.issuer === settings.tenantIssuer;
    const { tenant, user } = ticket;
    const project = await openProject(env, { tenant, asked: { user } }, ticket.sandbox);
    const isHere = (await project.sessionKey(ticket.session)) === sessionKey && pass.ownKey === undefined;
    if (!isSame || !isHere || grant.share !== undefined) {
      throw new AuthFault("wrong_ticket", "The ticket is for somebody else, or for another session");
    }
    if ((grant.mayExec && !fresh.mayExec) || (grant.isAdmin && !fresh.isAdmin)) {
      throw new AuthFault("insufficient_scope", "The ticket allows less than the token before it");
    }
    if (!tickets.use(fresh, Date.now())) throw new AuthFault("ticket_used", "The ticket has been used");
    const { mayExec, isAdmin, mayCreate, name } = grant;
    return { ...fresh, mayExec, isAdmin, mayCreate, name };
  }

  async #requireUnrevoked(grant: Grant, { pass }: Life): Promise<void> {
    const { env, sessionKey } = this.#options;
    const { own, expiresAtMs } = grant;
    const { homeKey, ownKey } = pass;
    const answers = await Promise.all([
      env.TENANT.getByName(homeKey).renew(revocablePart(grant), sessionKey, expiresAtMs),
      ownKey === undefined || env.TENANT.getByName(ownKey).renew(own, sessionKey, expiresAtMs),
    ]);
    if (answers.includes(false)) throw new AuthFault("revoked", "It was revoked");
  }
}
