// `/api/sandboxes/ID/sessions`: what sessions a sandbox has. Asking never starts a container.

import { CLOSE } from "@sbx/sandbox-stdio";
import { type Context, Hono } from "hono";
import { auditResponse, readAuditQuery } from "../audit/route.ts";
import { actorOf } from "../audit/worker-log.ts";
import { authorizeProject } from "../auth/authorize-project.ts";
import type { SandboxScope } from "../auth/identity.ts";
import type { Env } from "../env.ts";
import { refuseHttp } from "../refusal.ts";

type SessionContext = Context<{ Bindings: Env }, "/:sandbox/sessions/:session" | "/:sandbox/sessions/:session/audit">;

export const sessionRoutes = new Hono<{ Bindings: Env }>();

sessionRoutes.get("/:sandbox/sessions", async (c) => {
  const { project } = await authorizeProject(c.req.raw, c.env, c.req.param("sandbox"), "sandbox:connect");
  const names = await c.env.DIRECTORY.getByName(project.sandboxKey).list();
  const listings = await Promise.all(
    names.map(async (name) => c.env.SESSION.getByName(await project.sessionKey(name)).describe()),
  );
  return c.json({ sessions: listings.filter((listing) => listing !== undefined) });
});

sessionRoutes.get("/:sandbox/sessions/:session", async (c) => {
  const [stub] = await authorized(c, "sandbox:connect");
  const listing = await stub.describe();
  return listing === undefined ? noSession(c) : c.json(listing);
});

sessionRoutes.delete("/:sandbox/sessions/:session", async (c) => {
  const [stub, actor] = await authorized(c, "sandbox:exec");
  return (await stub.end(actor)) ? c.body(null, 204) : noSession(c);
});

sessionRoutes.get("/:sandbox/sessions/:session/audit", async (c) => {
  const [stub] = await authorized(c, "sandbox:admin");
  const query = readAuditQuery(new URL(c.req.url).searchParams);
  if (query instanceof Response) return query;
  const page = await stub.audit(query.after, query.limit);
  return page === undefined ? noSession(c) : auditResponse(page);
});

/** The session that the path names, and who asks. */
async function authorized(c: SessionContext, scope: SandboxScope) {
  const { identity, project } = await authorizeProject(c.req.raw, c.env, c.req.param("sandbox"), scope);
  const stub = c.env.SESSION.getByName(await project.sessionKey(c.req.param("session")));
  return [stub, actorOf(c.req.raw, identity, project.user)] as const;
}

function noSession(c: SessionContext): Response {
  const message = `no session "${c.req.param("session")}" in sandbox "${c.req.param("sandbox")}"`;
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message });
}
