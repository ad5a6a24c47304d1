// `/api/layout`: which sessions a person has open on the page, and how, for each device of theirs. Kept by who is logged in alone.

import { Hono } from "hono";
import { AuthFault } from "../auth/fault.ts";
import { type IdentifyEnv, identify } from "../auth/identify.ts";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { bodyInteger, jsonBody } from "../json-body.ts";
import type { KeptLayout } from "./layout-store.ts";

export const layoutRoutes = new Hono<{ Bindings: IdentifyEnv }>();

layoutRoutes.get("/", async (c) => {
  const { tenant, user } = await enter(c.req.raw, c.env);
  c.header("Cache-Control", "no-store");
  return c.json(answerOf(await tenant.layout(user)));
});

layoutRoutes.put("/", async (c) => {
  const { tenant, user } = await enter(c.req.raw, c.env);
  // No more than 16 KiB.
  const body = await jsonBody(c.req.raw);
  const { layout } = body;
  if (typeof layout !== "object" || layout === null || Array.isArray(layout)) {
    throw new AuthFault("bad_request", '"layout" must be a JSON object');
  }
  const range = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 };
  const base = body.revision === undefined ? undefined : bodyInteger(body, "revision", range);
  const { isKept, kept } = await tenant.keepLayout(user, JSON.stringify(layout), base);
  c.header("Cache-Control", "no-store");
  if (isKept) return c.json({ revision: kept.revision });
  const message = "Another device has kept a layout since: bring both together, and keep that";
  return c.json({ error: "other_revision", message, ...answerOf(kept) }, 409);
});

async function enter(request: Request, env: IdentifyEnv) {
  const { identity } = await identify(request, env);
  requireScope(identity, "sandbox:connect");
  return { tenant: env.TENANT.getByName(await tenantKey(identity)), user: identity.subject };
}

function answerOf({ revision, text }: KeptLayout): { revision: number; layout: unknown } {
  return { revision, layout: text === undefined ? null : JSON.parse(text) };
}
