// `GET /api/audit`: the events that concern the caller's tenant and no one session of it, page by page.

import { Hono } from "hono";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { auditResponse, readAuditQuery } from "./audit.ts";

export const tenantAuditRoutes = new Hono<{ Bindings: IdentifyEnv }>();

tenantAuditRoutes.get("/", async (c) => {
  const { identity } = await identify(c.req.raw, c.env);
  requireScope(identity, "sandbox:admin");
  const query = readAuditQuery(new URL(c.req.url).searchParams);
  if (query instanceof Response) return query;
  const tenant = c.env.TENANT.getByName(await tenantKey(identity));
  return auditResponse(await tenant.audit(query.after, query.limit));
});
