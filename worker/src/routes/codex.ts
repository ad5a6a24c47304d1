// `/codex/SANDBOX`, where codex' clients connect, and the API's routes about their tickets and their record (E1, E6).

import { type Context, Hono } from "hono";
import { CODEX_PULL_HEADER } from "sandbox-stdio/codex";
import { CLOSE, defined } from "sandbox-stdio/core";
import type { AttachRight } from "../attach/attach-right.ts";
import { CODEX, codexRequest } from "../attach/codex-spec.ts";
import { type EntryEnv, pass } from "../attach/entry-limits.ts";
import { displayName, grantOfCodexTicket, grantOfToken } from "../attach/grant.ts";
import { actorOf, addressOf, logRefused } from "../audit/worker-log.ts";
import { findTicket } from "../auth/credentials.ts";
import { requireScope, type SandboxScope } from "../auth/identity.ts";
import { checkName } from "../auth/names.ts";
import { nameProject } from "../auth/project-gate.ts";
import { authProvider, readEntrySettings } from "../auth/provider.ts";
import { openCodexTicket, sealCodexTicket, ticketId } from "../auth/ticket.ts";
import { authorizeProject, type ProjectAccessEnv } from "../guards/authorize-project.ts";
import { AuthFault } from "../refusal/fault.ts";
import { bodyInteger, jsonBody, requireNoQuery } from "../refusal/json-body.ts";
import { refuseHttp } from "../refusal/refusal.ts";
import { MAX_SHARE_TICKETS } from "../tickets/session-tickets.ts";
import { auditResponse, readAuditQuery } from "./audit.ts";

type CodexEnv = ProjectAccessEnv & EntryEnv;
type Bindings = { Bindings: CodexEnv };

const TICKET_SECONDS = { min: 1, max: 7 * 24 * 3600, fallback: 24 * 3600 };
const NO_STORE = { "Cache-Control": "no-store" };

/** To be mounted at `/`. */
export const codexRoutes = new Hono<Bindings>();

codexRoutes.get("/codex/:sandbox", async (c) => {
  const request = c.req.raw;
  const sandbox = c.req.param("sandbox");
  if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") {
    const body = { error: "upgrade_required", message: `${c.req.path} is a WebSocket` };
    return Response.json(body, { status: 426, headers: { Upgrade: "websocket" } });
  }
  // No page has a use for it, and codex itself sends none.
  if (request.headers.has("Origin")) throw new AuthFault("bad_origin", "No page may connect here");
  const right = await rightOf(request, c.env, sandbox);
  const { tenant, grant } = right;
  const { question, sandboxKey, codexKey } = await nameProject(c.env, right.asker, sandbox);
  const sessionKey = await codexKey();
  // The connection makes no session; each of its processes does.
  const visiting = { ...right, grant: { ...grant, mayCreate: false } };
  const asked = { sessionKey, sandboxKey, sandbox, kind: "other", resume: undefined } as const;
  const passed = await pass(c.env, request, visiting, asked, question);
  if ("code" in passed) {
    logRefused(request, { code: passed.error, message: passed.message });
    return refuseHttp(passed);
  }
  const { user } = passed;
  const actor = {
    tenant: tenant.tenantValue,
    user: user ?? grant.subject,
    address: addressOf(request),
    ...defined({ ticket: grant.share?.id }),
  };
  const fetches = request.headers.has(CODEX_PULL_HEADER);
  const { issuer, tenantClaim, tenantValue } = tenant;
  const spec = { tenant: { issuer, tenantClaim, tenantValue }, sandbox, sandboxKey, who: grant, actor, user, fetches };
  return c.env.SESSION.getByName(sessionKey).fetch(codexRequest({ ...spec, pass: passed.pass }));
});

/** By its ticket, or a token in the header. @throws {AuthFault} */
async function rightOf(request: Request, env: CodexEnv, sandbox: string): Promise<AttachRight> {
  const settings = readEntrySettings(env);
  const text = findTicket(request);
  if (text === undefined) {
    if (!/^bearer /i.test(request.headers.get("Authorization") ?? "")) {
      throw new AuthFault("no_token", "Give a ticket as ?ticket=, or the token in the Authorization header");
    }
    const { identity, token } = await authProvider().authenticate(request, env);
    requireScope(identity, "sandbox:exec");
    return { tenant: identity, grant: grantOfToken(identity, ""), asker: { tenant: identity, token } };
  }
  const ticket = await openCodexTicket(text, settings.sessionSecret);
  const { tenant } = ticket;
  if (tenant.issuer !== settings.tenantIssuer) throw new AuthFault("bad_ticket", "The ticket is of another issuer");
  if (ticket.sandbox !== sandbox) throw new AuthFault("wrong_ticket", "The ticket is for another sandbox");
  return { tenant, grant: grantOfCodexTicket(ticket), asker: { tenant, asked: { user: ticket.user } } };
}

/** To be mounted at `/api/sandboxes`. */
export const codexTicketRoutes = new Hono<Bindings>();

codexTicketRoutes.post("/:sandbox/codex-ticket", async (c) => {
  const settings = readEntrySettings(c.env);
  const { identity, user, actor, stub } = await clientsOf(c, "sandbox:exec");
  const body = await jsonBody(c.req.raw, ["seconds"]);
  const expiresAtMs = Date.now() + bodyInteger(body, "seconds", TICKET_SECONDS) * 1000;
  const sandbox = checkName("sandbox", c.req.param("sandbox"));
  const id = ticketId();
  const { issuer, tenantClaim, tenantValue, subject: maker, tokenId, issuedAt } = identity;
  const listed = { id, role: "driver", guests: false, maxClients: 1, maker, expiresAtMs, recording: false } as const;
  if ((await stub.addTicket(listed, actor, CODEX)) !== "added") {
    const message = `the sandbox has ${MAX_SHARE_TICKETS} tickets that are still good: revoke one`;
    return refuseHttp({ code: CLOSE.conflict, error: "too_many_tickets", message });
  }
  const ticket = await sealCodexTicket(
    {
      ...{ id, tenant: { issuer, tenantClaim, tenantValue }, sandbox, maker, makerName: displayName(identity) },
      ...{ expiresAtMs, ...defined({ user, makerToken: tokenId, makerIssuedAt: issuedAt }) },
    },
    settings.sessionSecret,
  );
  const url = `${settings.linkBase.replace(/^http/, "ws")}/codex/${sandbox}?ticket=${ticket}`;
  return c.json({ id, url, expiresAt: new Date(expiresAtMs).toISOString() }, 200, NO_STORE);
});

codexTicketRoutes.get("/:sandbox/tickets", async (c) => {
  const { stub } = await clientsOf(c, "sandbox:exec");
  requireNoQuery(c.req.raw);
  const tickets = (await stub.listTickets(CODEX)) ?? [];
  const listed = tickets.map(({ id, maker, createdAt, expiresAt }) => ({
    ...{ id, kind: CODEX, maker, createdAt, expiresAt },
  }));
  return c.json({ tickets: listed }, 200, NO_STORE);
});

codexTicketRoutes.delete("/:sandbox/tickets/:ticket", async (c) => {
  const { actor, stub } = await clientsOf(c, "sandbox:exec");
  requireNoQuery(c.req.raw);
  if (await stub.revokeTicket(c.req.param("ticket"), actor)) return c.body(null, 204);
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message: "no such ticket, or it has expired" });
});

codexTicketRoutes.get("/:sandbox/audit", async (c) => {
  const { stub } = await clientsOf(c, "sandbox:admin");
  const query = readAuditQuery(new URL(c.req.url).searchParams);
  if (query instanceof Response) return query;
  const page = await stub.audit(query.after, query.limit);
  if (page !== undefined) return auditResponse(page);
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message: "no codex client has been here" });
});

/** The caller, and the object of the sandbox's codex clients. @throws {AuthFault} */
async function clientsOf(c: Context<Bindings>, scope: SandboxScope) {
  const { identity, project } = await authorizeProject(c.req.raw, c.env, c.req.param("sandbox") ?? "", scope);
  const { user } = project;
  const stub = c.env.SESSION.getByName(await project.codexKey());
  return { identity, user, actor: actorOf(c.req.raw, identity, user), stub };
}
