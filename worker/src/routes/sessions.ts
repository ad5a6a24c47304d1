// `/api/sandboxes/ID/sessions/NAME/audit`: the record of a session.

import { Hono } from "hono";
import { CLOSE } from "sandbox-stdio/core";
import type { SessionsEnv } from "../attach/session-calls.ts";
import { authorizeProject, type ProjectAccessEnv } from "../guards/authorize-project.ts";
import { refuseHttp } from "../refusal/refusal.ts";
import { auditResponse, readAuditQuery } from "./audit.ts";

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
