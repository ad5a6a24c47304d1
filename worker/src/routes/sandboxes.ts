// Routes about the caller's tenant: the sandboxes where it has sessions that have not ended, and revocations.

import { Hono } from "hono";
import { actorOf } from "../audit/worker-log.ts";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { openProject, type ProjectAsker, type ProjectEnv } from "../auth/project-gate.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { callerOf } from "../programs/authorized.ts";
import { AuthFault } from "../refusal/fault.ts";
import { bodyText, jsonBody, requireNoQuery } from "../refusal/json-body.ts";

type SandboxesEnv = IdentifyEnv & ProjectEnv;

export const sandboxRoutes = new Hono<{ Bindings: SandboxesEnv }>();

sandboxRoutes.get("/", async (c) => {
  const { identity, token } = await callerOf(c.req.raw, c.env, "sandbox:connect");
  requireNoQuery(c.req.raw);
  const names = await c.env.TENANT.getByName(await tenantKey(identity)).sandboxes();
  const asker = { tenant: identity, token };
  const isTheirs = await Promise.all(names.map((sandbox) => isProjectOf(c.env, asker, sandbox)));
  return c.json({ sandboxes: names.filter((_, index) => isTheirs[index]).map((sandbox) => ({ sandbox })) });
});

/** A tenant may have many users: the names of projects that are others' are not told either. */
async function isProjectOf(env: ProjectEnv, asker: ProjectAsker, sandbox: string): Promise<boolean> {
  try {
    await openProject(env, asker, sandbox);
    return true;
  } catch (error) {
    if (error instanceof AuthFault && error.code === "not_owner") return false;
    throw error;
  }
}

const MAX_VALUE_CHARACTERS = 512;

/** `POST /api/revocations`: ends what a user or a token may do in the caller's own tenant. */
export const revocationRoutes = new Hono<{ Bindings: IdentifyEnv }>();

revocationRoutes.post("/", async (c) => {
  const { identity } = await identify(c.req.raw, c.env);
  requireScope(identity, "sandbox:admin");
  const body = await jsonBody(c.req.raw, ["sub", "jti"]);
  const kind = body.sub === undefined ? "jti" : "sub";
  if ((body.sub === undefined) === (body.jti === undefined)) {
    throw new AuthFault("bad_request", 'Either "sub" or "jti" must be given');
  }
  const value = bodyText(body, kind);
  if (value === "" || value.length > MAX_VALUE_CHARACTERS) {
    throw new AuthFault("bad_request", `"${kind}" must have 1 to ${MAX_VALUE_CHARACTERS} characters`);
  }
  await c.env.TENANT.getByName(await tenantKey(identity)).revoke({ kind, value }, actorOf(c.req.raw, identity));
  return c.body(null, 204);
});
