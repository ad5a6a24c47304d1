// The audit record over HTTP, page by page: a session's, which may have ended long ago, and the tenant's.

import { nearestName } from "@sbx/api";
import { Hono } from "hono";
import { CLOSE } from "sandbox-stdio/core";
import type { SessionsEnv } from "../attach/session-calls.ts";
import type { AuditPage } from "../audit/trail.ts";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { authorizeProject, type ProjectAccessEnv } from "../guards/authorize-project.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { refuseHttp } from "../refusal/refusal.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const FIELDS: readonly string[] = ["after", "limit"];

export type AuditPageQuery = { readonly after: number; readonly limit: number };

/** The query for a page; or the refusal. */
export function readAuditQuery(params: URLSearchParams): AuditPageQuery | Response {
  const field = [...params.keys()].find((name) => !FIELDS.includes(name));
  if (field !== undefined) {
    const message = `unknown field "${field}" in the query: the nearest is "${nearestName(field, FIELDS)}"`;
    return refuseHttp({ code: CLOSE.badRequest, error: "unknown_field", message });
  }
  const after = integer(params.get("after") ?? "0");
  const limit = integer(params.get("limit") ?? String(DEFAULT_LIMIT));
  if (after === undefined) return refuse('"after" must be the number of a record: its "seq", or 0');
  if (limit === undefined || limit < 1 || limit > MAX_LIMIT) return refuse(`"limit" must be from 1 to ${MAX_LIMIT}`);
  return { after, limit };
}

export function auditResponse(page: AuditPage): Response {
  return Response.json(page, { headers: { "Cache-Control": "no-store" } });
}

function integer(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function refuse(message: string): Response {
  return refuseHttp({ code: CLOSE.badRequest, error: "bad_request", message });
}

/** `GET /api/audit`: events of the caller's tenant that belong to no session. */
export const tenantAuditRoutes = new Hono<{ Bindings: IdentifyEnv }>();

tenantAuditRoutes.get("/", async (c) => {
  const { identity } = await identify(c.req.raw, c.env);
  requireScope(identity, "sandbox:admin");
  const query = readAuditQuery(new URL(c.req.url).searchParams);
  if (query instanceof Response) return query;
  const tenant = c.env.TENANT.getByName(await tenantKey(identity));
  return auditResponse(await tenant.audit(query.after, query.limit));
});

/** `/api/sandboxes/ID/sessions/NAME/audit`: the record of a session. */
export const sessionRoutes = new Hono<{ Bindings: ProjectAccessEnv & SessionsEnv }>();

sessionRoutes.get("/:sandbox/sessions/:session/audit", async (c) => {
  const { sandbox, session } = c.req.param();
  const { project } = await authorizeProject(c.req.raw, c.env, sandbox, "sandbox:admin");
  const query = readAuditQuery(new URL(c.req.url).searchParams);
  if (query instanceof Response) return query;
  const stub = c.env.SESSION.getByName(await project.sessionKey(session));
  const page = await stub.audit(query.after, query.limit);
  if (page !== undefined) return auditResponse(page);
  const message = `no session "${session}" in sandbox "${sandbox}"`;
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message });
});
