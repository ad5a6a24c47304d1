// `/api/attention-webhook`: the address that the caller's tenant wants to be called at. Admins alone.

import { Hono } from "hono";
import { actorOf } from "../audit/worker-log.ts";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { AuthFault } from "../refusal/fault.ts";
import { bodyText, jsonBody, requireNoQuery } from "../refusal/json-body.ts";
import { webhookAddressFault } from "../webhooks/address.ts";
import { isLoopbackAllowed, type WebhookEnv } from "../webhooks/settings.ts";

const MIN_SECRET_CHARACTERS = 16;
const MAX_SECRET_CHARACTERS = 256;

type WebhookRouteEnv = IdentifyEnv & WebhookEnv;

export const webhookRoutes = new Hono<{ Bindings: WebhookRouteEnv }>();

webhookRoutes.get("/", async (c) => {
  const { tenant } = await enter(c.req.raw, c.env);
  return c.json(await tenant.webhook());
});

webhookRoutes.put("/", async (c) => {
  const { tenant, actor } = await enter(c.req.raw, c.env);
  const body = await jsonBody(c.req.raw, ["url", "secret"]);
  // `{"url":null}` switches off, as DELETE does.
  if (body.url === null) {
    await tenant.setWebhook(undefined, actor);
    return c.json(await tenant.webhook());
  }
  const url = bodyText(body, "url");
  const secret = bodyText(body, "secret");
  const fault = webhookAddressFault(url, isLoopbackAllowed(c.env));
  if (fault !== undefined) throw new AuthFault("bad_request", fault);
  if (secret.length < MIN_SECRET_CHARACTERS || secret.length > MAX_SECRET_CHARACTERS) {
    const range = `${MIN_SECRET_CHARACTERS} to ${MAX_SECRET_CHARACTERS}`;
    throw new AuthFault("bad_request", `"secret" must have ${range} characters`);
  }
  await tenant.setWebhook({ url: new URL(url).href, secret }, actor);
  return c.json(await tenant.webhook());
});

webhookRoutes.delete("/", async (c) => {
  const { tenant, actor } = await enter(c.req.raw, c.env);
  await tenant.setWebhook(undefined, actor);
  return c.body(null, 204);
});

async function enter(request: Request, env: WebhookRouteEnv) {
  const { identity } = await identify(request, env);
  requireScope(identity, "sandbox:admin");
  requireNoQuery(request);
  return { tenant: env.TENANT.getByName(await tenantKey(identity)), actor: actorOf(request, identity) };
}
