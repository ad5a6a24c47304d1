// `/api/push`: the devices on which a person wants to be called when a program asks for one (K11).

import { Hono } from "hono";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { toBase64Url } from "../base/base64url.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { type PushNoticesEnv, subscriptionOf } from "../push/push-notices.ts";
import { readPushSettings } from "../push/settings.ts";
import { AuthFault } from "../refusal/fault.ts";
import { bodyText, jsonBody, requireNoQuery } from "../refusal/json-body.ts";

type PushRouteEnv = IdentifyEnv & PushNoticesEnv;

export const pushRoutes = new Hono<{ Bindings: PushRouteEnv }>();

/** The key to subscribe with; null: no device is called here. */
pushRoutes.get("/", async (c) => {
  await enter(c.req.raw, c.env);
  requireNoQuery(c.req.raw);
  const settings = readPushSettings(c.env);
  return c.json({ publicKey: settings === undefined ? null : toBase64Url(settings.publicKey) });
});

pushRoutes.put("/", async (c) => {
  const { tenant, user } = await enter(c.req.raw, c.env);
  const body = await jsonBody(c.req.raw, ["endpoint", "p256dh", "auth"]);
  const device = {
    endpoint: bodyText(body, "endpoint"),
    p256dh: bodyText(body, "p256dh"),
    auth: bodyText(body, "auth"),
  };
  const subscription = subscriptionOf(device, c.env);
  if (typeof subscription === "string") throw new AuthFault("bad_request", subscription);
  if (await tenant.addDevice(user, device)) return c.body(null, 204);
  return c.json({ error: "too_many_devices", message: "No more devices of this tenant can be called" }, 429);
});

pushRoutes.delete("/", async (c) => {
  const { tenant, user } = await enter(c.req.raw, c.env);
  await tenant.removeDevice(user, bodyText(await jsonBody(c.req.raw, ["endpoint"]), "endpoint"));
  return c.body(null, 204);
});

/** People who may drive are asked. */
async function enter(request: Request, env: PushRouteEnv) {
  const { identity } = await identify(request, env);
  requireScope(identity, "sandbox:exec");
  return { tenant: env.TENANT.getByName(await tenantKey(identity)), user: identity.subject };
}
