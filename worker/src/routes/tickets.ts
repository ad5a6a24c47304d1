// The API's routes about tickets: one to attach once, and those that share a session. A ticket gives no more than its maker
// has.

import { type Context, Hono } from "hono";
import { CLOSE, DEFAULT_SHARE_SECONDS, defined, MAX_CLIENTS } from "sandbox-stdio/core";
import { displayName } from "../attach/grant.ts";
import type { SessionsEnv } from "../attach/session-calls.ts";
import { actorOf } from "../audit/worker-log.ts";
import type { EntrySettings } from "../auth/entry-settings.ts";
import { type Identity, requireScope, type SandboxScope } from "../auth/identity.ts";
import { checkName, type Tenant } from "../auth/names.ts";
import { openProject } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { type Role, sealTicket, type TicketTarget, ticketId } from "../auth/ticket.ts";
import { authorizeProject, type ProjectAccessEnv } from "../guards/authorize-project.ts";
import { identify } from "../guards/identify.ts";
import { AuthFault } from "../refusal/fault.ts";
import { bodyBoolean, bodyInteger, bodyText, type JsonBody, jsonBody, requireNoQuery } from "../refusal/json-body.ts";
import { refuseHttp } from "../refusal/refusal.ts";
import { MAX_SHARE_TICKETS } from "../tickets/session-tickets.ts";

type Bindings = { Bindings: ProjectAccessEnv & SessionsEnv };
type Names = { readonly sandbox: string; readonly session: string };

const ATTACH_TICKET_SECONDS = 60;
/** How long a share ticket is good, unless its maker says otherwise; and the most that they may say. */
export const SHARE_SECONDS = { min: 1, max: 30 * 24 * 3600, fallback: DEFAULT_SHARE_SECONDS };

/** How many may be there by one share ticket at a time. */
const SHARE_CLIENTS = { min: 1, max: MAX_CLIENTS, fallback: 16 };

/** To be mounted at `/api/tickets`. */
export const attachTicketRoutes = new Hono<Bindings>();

attachTicketRoutes.post("/", async (c) => {
  const settings = readEntrySettings(c.env);
  const { identity, token } = await identify(c.req.raw, c.env);
  requireScope(identity, "sandbox:connect");
  const body = await jsonBody(c.req.raw, ["sandbox", "session", "role"]);
  const role = readRole(body, "driver");
  if (role === "driver") requireScope(identity, "sandbox:exec");
  const where = target(identity, bodyText(body, "sandbox", "default"), bodyText(body, "session"), role);
  const { user } = await openProject(c.env, { tenant: identity, token }, where.sandbox);
  const { ticket, expiresAtMs } = await attachTicket(identity, where, c.req.header("Origin") ?? "", settings, user);
  return c.json({ ticket, expiresAt: new Date(expiresAtMs).toISOString() }, 200, NO_STORE);
});

/** A ticket to attach once to `where`, as this person, from a page of this origin. The calling function checks the right. */
export async function attachTicket(
  identity: Identity,
  where: TicketTarget,
  origin: string,
  settings: EntrySettings,
  user?: string,
): Promise<{ ticket: string; expiresAtMs: number }> {
  const expiresAtMs = Date.now() + ATTACH_TICKET_SECONDS * 1000;
  const ticket = await sealTicket(
    {
      kind: "attach",
      id: ticketId(),
      ...where,
      ...makerOf(identity, user),
      expiresAtMs,
      origin,
      makerName: displayName(identity),
      ...defined({ login: identity.loginId }),
      isAdmin: where.role === "driver" && identity.scopes.has("sandbox:admin"),
      tokenExpiresAtMs: identity.expiresAt * 1000,
      ...defined({ opaque: identity.opaque }),
    },
    settings.sessionSecret,
  );
  return { ticket, expiresAtMs };
}

/** To be mounted at `/api/sandboxes`. */
export const shareRoutes = new Hono<Bindings>();

shareRoutes.post("/:sandbox/sessions/:session/share", async (c) => {
  const settings = readEntrySettings(c.env);
  const { identity, user, actor, stub } = await sessionOf(c, c.req.param(), "sandbox:exec");
  const body = await jsonBody(c.req.raw, ["role", "guests", "maxClients", "seconds", "recording"]);
  // A caller that does not say gives away the least.
  const role = readRole(body, "viewer");
  const guests = bodyBoolean(body, "guests");
  const recording = bodyBoolean(body, "recording");
  const maxClients = bodyInteger(body, "maxClients", SHARE_CLIENTS);
  const expiresAtMs = Date.now() + bodyInteger(body, "seconds", SHARE_SECONDS) * 1000;
  const id = ticketId();
  const where = target(identity, c.req.param("sandbox"), c.req.param("session"), role);
  const maker = identity.subject;
  const outcome = await stub.addTicket({ id, role, guests, maxClients, maker, expiresAtMs, recording }, actor);
  if (outcome === "no_session") return noSession(c.req.param());
  if (outcome === "too_many") {
    const message = `the session has ${MAX_SHARE_TICKETS} tickets that are still good: revoke one`;
    return refuseHttp({ code: CLOSE.conflict, error: "too_many_tickets", message });
  }
  const ticket = await sealTicket(
    { kind: "share", id, ...where, ...makerOf(identity, user), expiresAtMs, admitsGuests: guests },
    settings.sessionSecret,
  );
  const url = shareUrl(settings, where, ticket);
  return c.json({ id, ticket, url, expiresAt: new Date(expiresAtMs).toISOString() }, 200, NO_STORE);
});

shareRoutes.get("/:sandbox/sessions/:session/tickets", async (c) => {
  const { stub } = await sessionOf(c, c.req.param(), "sandbox:exec");
  requireNoQuery(c.req.raw);
  const tickets = await stub.listTickets();
  return tickets === undefined ? noSession(c.req.param()) : c.json({ tickets }, 200, NO_STORE);
});

shareRoutes.delete("/:sandbox/sessions/:session/tickets/:ticket", async (c) => {
  const { actor, stub } = await sessionOf(c, c.req.param(), "sandbox:exec");
  requireNoQuery(c.req.raw);
  if (await stub.revokeTicket(c.req.param("ticket"), actor)) return c.body(null, 204);
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message: "no such ticket, or it has expired" });
});

/** The answers hold what opens a door. */
const NO_STORE = { "Cache-Control": "no-store" };

async function sessionOf(c: Context<Bindings>, { sandbox, session }: Names, scope: SandboxScope) {
  const { identity, project } = await authorizeProject(c.req.raw, c.env, sandbox, scope);
  const { user } = project;
  const stub = c.env.SESSION.getByName(await project.sessionKey(session));
  return { identity, user, actor: actorOf(c.req.raw, identity, user), stub };
}

/** Names are checked here, so that a ticket never holds others. */
export function target(
  { issuer, tenantClaim, tenantValue }: Tenant,
  sandbox: string,
  session: string,
  role: Role,
): TicketTarget {
  return {
    tenant: { issuer, tenantClaim, tenantValue },
    sandbox: checkName("sandbox", sandbox),
    session: checkName("session", session),
    role,
  };
}

function makerOf({ subject, tokenId, issuedAt }: Identity, user: string | undefined) {
  return {
    maker: subject,
    ...defined({ user, makerToken: tokenId, makerIssuedAt: issuedAt }),
  };
}

/** The page with the session in its query, and the ticket in its fragment: that is sent to no server, and so logged by none. */
function shareUrl(settings: EntrySettings, { sandbox, session, role }: TicketTarget, ticket: string): string {
  const query = new URLSearchParams({ sandbox, session, role });
  return `${settings.linkBase}/?${query}#ticket=${ticket}`;
}

function readRole(body: JsonBody, fallback: Role): Role {
  const role = body.role ?? fallback;
  if (role === "driver" || role === "viewer") return role;
  throw new AuthFault("bad_request", '"role" must be driver or viewer');
}

function noSession({ sandbox, session }: Names): Response {
  return refuseHttp({
    code: CLOSE.notFound,
    error: "not_found",
    message: `no session "${session}" in sandbox "${sandbox}"`,
  });
}
