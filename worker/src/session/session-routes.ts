// `/api/sandboxes/ID/sessions`: what sessions a sandbox has. Asking never starts a container.

import { CLOSE } from "@sbx/sandbox-stdio";
import { type Context, Hono } from "hono";
import { auditResponse, readAuditQuery } from "../audit/route.ts";
import { actorOf } from "../audit/worker-log.ts";
import { authenticate } from "../auth/authenticate.ts";
import { requireScope, type SandboxScope } from "../auth/identity.ts";
import { sandboxKey, sessionKey } from "../auth/names.ts";
import { readAuthSettings } from "../auth/settings.ts";
import type { Env } from "../env.ts";
import { refuseHttp } from "../refusal.ts";

type SessionContext = Context<{ Bindings: Env }, "/:sandbox/sessions/:session" | "/:sandbox/sessions/:session/audit">;

export const sessionRoutes = new Hono<{ Bindings: Env }>();

sessionRoutes.get("/:sandbox/sessions", async (c) => {
  const { identity } = await authenticate(c.req.raw, readAuthSettings(c.env));
  requireScope(identity, "sandbox:connect");
  const sandbox = c.req.param("sandbox");
  const names = await c.env.DIRECTORY.getByName(await sandboxKey(identity, sandbox)).list();
  const listings = await Promise.all(
    names.map(async (name) => c.env.SESSION.getByName(await sessionKey(identity, sandbox, name)).describe()),
  );
  return c.json({ sessions: listings.filter((listing) => listing !== undefined) });
});

sessionRoutes.get("/:sandbox/sessions/:session", async (c) => {
  const [stub] = await authorized(c, "sandbox:connect");
  const listing = await stub.describe();
  return listing === undefined ? noSession(c) : c.json(listing);
});

sessionRoutes.delete("/:sandbox/sessions/:session", async (c) => {
  const [stub, identity] = await authorized(c, "sandbox:exec");
  return (await stub.end(actorOf(c.req.raw, identity))) ? c.body(null, 204) : noSession(c);
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
  const { identity } = await authenticate(c.req.raw, readAuthSettings(c.env));
  requireScope(identity, scope);
  const key = await sessionKey(identity, c.req.param("sandbox"), c.req.param("session"));
  return [c.env.SESSION.getByName(key), identity] as const;
}

function noSession(c: SessionContext): Response {
  const message = `no session "${c.req.param("session")}" in sandbox "${c.req.param("sandbox")}"`;
  return refuseHttp({ code: CLOSE.notFound, error: "not_found", message });
}
