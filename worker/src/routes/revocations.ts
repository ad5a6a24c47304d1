// `POST /api/revocations`: ends what a user or a token may do in the caller's own tenant.

import { Hono } from "hono";
import { actorOf } from "../audit/worker-log.ts";
import { requireScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { AuthFault } from "../refusal/fault.ts";
import { bodyBoolean, bodyText, jsonBody } from "../refusal/json-body.ts";

const MAX_VALUE_CHARACTERS = 512;

export const revocationRoutes = new Hono<{ Bindings: IdentifyEnv }>();

revocationRoutes.post("/", async (c) => {
  const { identity } = await identify(c.req.raw, c.env);
  requireScope(identity, "sandbox:admin");
  const body = await jsonBody(c.req.raw, ["sub", "jti", "mayReturn"]);
  const kind = body.sub === undefined ? "jti" : "sub";
  if ((body.sub === undefined) === (body.jti === undefined)) {
    throw new AuthFault("bad_request", 'Either "sub" or "jti" must be given');
  }
  const value = bodyText(body, kind);
  if (value === "" || value.length > MAX_VALUE_CHARACTERS) {
    throw new AuthFault("bad_request", `"${kind}" must have 1 to ${MAX_VALUE_CHARACTERS} characters`);
  }
  const mayReturn = bodyBoolean(body, "mayReturn");
  if (mayReturn && kind === "jti") throw new AuthFault("bad_request", '"mayReturn" is for a "sub"');
  const what = { kind, value, ...(mayReturn && { mayReturn }) } as const;
  await c.env.TENANT.getByName(await tenantKey(identity)).revoke(what, actorOf(c.req.raw, identity));
  return c.body(null, 204);
});
