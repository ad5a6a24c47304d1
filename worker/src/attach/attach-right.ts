// Authenticates a caller that wants to attach, by token or ticket, and says which targets it may open. All dialects' routes use it.

import type { Authenticated } from "../auth/authenticate.ts";
import { findTicket } from "../auth/credentials.ts";
import type { EntrySettings } from "../auth/entry-settings.ts";
import { requireScope } from "../auth/identity.ts";
import type { Tenant } from "../auth/names.ts";
import { requireAllowedHost } from "../auth/origin.ts";
import type { ProjectAsker } from "../auth/project-gate.ts";
import { authProvider } from "../auth/provider.ts";
import { openTicket, type ShareTicket, type TicketTarget } from "../auth/ticket.ts";
import { AuthFault } from "../refusal/fault.ts";
import { type Grant, grantOfAttachTicket, grantOfShareTicket, grantOfToken } from "./grant.ts";

export type AttachRight = {
  /** The tenant that owns the sandboxes of these names. */
  readonly tenant: Tenant;
  readonly grant: Grant;
  /** The facts sent to the Project Service. */
  readonly asker: ProjectAsker;
  /** The ticket's target, if there is a ticket. */
  readonly only?: TicketTarget;
  /** The guest's right, used if the Project Service refuses the caller. */
  readonly asGuest?: AttachRight;
};

/**
 * Authenticates a request to attach: by its ticket if there is one, else by its token.
 * @param cookieOrigins Origins of the pages that may attach by the cookie, beside our own.
 * @throws {AuthFault}
 */
export async function attachRight(
  request: Request,
  env: object,
  settings: EntrySettings,
  cookieOrigins?: ReadonlySet<string>,
): Promise<AttachRight> {
  const origin = request.headers.get("Origin") ?? "";
  const text = findTicket(request);
  if (text === undefined) {
    const { identity, token } = await authProvider().authenticate(request, env, cookieOrigins);
    requireScope(identity, "sandbox:connect");
    return { tenant: identity, grant: grantOfToken(identity, origin), asker: { tenant: identity, token } };
  }
  requireAllowedHost(request, settings);
  const ticket = await openTicket(text, settings.sessionSecret);
  if (ticket.tenant.issuer !== settings.tenantIssuer)
    throw new AuthFault("bad_ticket", "The ticket is of another issuer");
  const { tenant } = ticket;
  if (ticket.kind === "attach") {
    if (origin !== ticket.origin) {
      throw new AuthFault("bad_origin", "The ticket was made for a page of another origin");
    }
    const asker = { tenant, asked: { user: ticket.user } };
    return { tenant, grant: grantOfAttachTicket(ticket, origin), asker, only: ticket };
  }
  // A guest has the right of the ticket's maker.
  const asGuest: AttachRight = {
    tenant,
    grant: grantOfShareTicket(ticket, undefined, origin),
    asker: { tenant, asked: { user: ticket.user } },
    only: ticket,
  };
  const bearer = await bearerOf(request, env, ticket, cookieOrigins);
  if (bearer === undefined) return asGuest;
  return {
    tenant,
    grant: grantOfShareTicket(ticket, bearer.identity, origin),
    asker: { tenant, token: bearer.token },
    only: ticket,
    ...(ticket.admitsGuests ? { asGuest } : {}),
  };
}

/** The refusal of a ticket for another session; the two differ in status. */
export type OtherSession = "wrong_ticket" | "wrong_session";

/**
 * Fills in from the ticket what the query leaves open.
 * @throws {AuthFault} As {@link requireTarget}, if the query asks for something else.
 */
export function completeQuery(
  params: URLSearchParams,
  only: TicketTarget | undefined,
  otherSession: OtherSession,
): URLSearchParams {
  if (only === undefined) return params;
  const completed = new URLSearchParams(params);
  for (const name of ["sandbox", "session", "role"] as const) if (!params.has(name)) completed.set(name, only[name]);
  requireTarget(
    only,
    {
      sandbox: completed.get("sandbox") ?? "",
      session: completed.get("session") ?? "",
      role: completed.get("role") ?? "",
    },
    otherSession,
  );
  return completed;
}

/** @throws {AuthFault} If a ticket does not open the target: `otherSession`, or `wrong_ticket` for its role. */
export function requireTarget(
  only: TicketTarget | undefined,
  asked: { readonly sandbox: string; readonly session: string; readonly role: string },
  otherSession: OtherSession,
): void {
  if (only === undefined) return;
  if (asked.sandbox !== only.sandbox || asked.session !== only.session) {
    throw new AuthFault(otherSession, "The ticket is for another session");
  }
  if (asked.role !== "viewer" && only.role === "viewer") {
    throw new AuthFault("wrong_ticket", "The ticket is for a viewer, not for a driver");
  }
}

/** @returns undefined for a guest. */
async function bearerOf(
  request: Request,
  env: object,
  ticket: ShareTicket,
  cookieOrigins: ReadonlySet<string> | undefined,
): Promise<Authenticated | undefined> {
  try {
    return await authProvider().authenticate(request, env, cookieOrigins);
  } catch (error) {
    // A person with an expired login is treated as a guest.
    if (ticket.admitsGuests && error instanceof AuthFault && error.status === 401) return undefined;
    throw error;
  }
}
