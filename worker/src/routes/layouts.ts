// `/api/layout` and `/api/preferences`: which sessions a person has open on the page, and the settings there, for each device of
// theirs. Kept by who is logged in alone.

import { Hono } from "hono";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import type { KeptKind, KeptLayout } from "../layouts/layout-store.ts";
import { AuthFault } from "../refusal/fault.ts";
import { bodyInteger, jsonBody, requireNoQuery } from "../refusal/json-body.ts";

export const layoutRoutes = routesOf("layouts", "layout");
export const preferenceRoutes = routesOf("preferences", "preferences");

/** @param field Of the question and of the answer: a JSON object. */
function routesOf(kind: KeptKind, field: "layout" | "preferences"): Hono<{ Bindings: IdentifyEnv }> {
  const routes = new Hono<{ Bindings: IdentifyEnv }>();
  const answerOf = ({ revision, text }: KeptLayout) => ({
    revision,
    [field]: text === undefined ? null : JSON.parse(text),
  });

  routes.get("/", async (c) => {
    const { tenant, user } = await enter(c.req.raw, c.env);
    requireNoQuery(c.req.raw);
    c.header("Cache-Control", "no-store");
    return c.json(answerOf(await tenant.keptText(kind, user)));
  });

  routes.put("/", async (c) => {
    const { tenant, user } = await enter(c.req.raw, c.env);
    // No more than 16 KiB.
    const body = await jsonBody(c.req.raw, [field, "revision"]);
    const value = body[field];
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new AuthFault("bad_request", `"${field}" must be a JSON object`);
    }
    const range = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 };
    const base = body.revision === undefined ? undefined : bodyInteger(body, "revision", range);
    const { isKept, kept } = await tenant.keepText(kind, user, JSON.stringify(value), base);
    c.header("Cache-Control", "no-store");
    if (isKept) return c.json({ revision: kept.revision });
    const message = `Another device has kept ${field === "layout" ? "a layout" : "settings"} since: bring both together, and keep that`;
    return c.json({ error: "other_revision", message, ...answerOf(kept) }, 409);
  });
  return routes;
}

async function enter(request: Request, env: IdentifyEnv) {
  const { identity } = await identify(request, env);
  requireScope(identity, "sandbox:connect");
  return { tenant: env.TENANT.getByName(await tenantKey(identity)), user: identity.subject };
}
