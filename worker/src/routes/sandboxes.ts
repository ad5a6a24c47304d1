// `GET /api/sandboxes`: the sandboxes where the caller's tenant has sessions that have not ended.

import { Hono } from "hono";
import { tenantKey } from "../auth/names.ts";
import { openProject, type ProjectAsker, type ProjectEnv } from "../auth/project-gate.ts";
import type { IdentifyEnv } from "../guards/identify.ts";
import { callerOf } from "../programs/authorized.ts";
import { AuthFault } from "../refusal/fault.ts";
import { requireNoQuery } from "../refusal/json-body.ts";

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
