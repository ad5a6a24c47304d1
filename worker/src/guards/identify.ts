// The caller, in every respect: authenticated, not revoked, and not asking too often. Routes of the API ask here and nowhere
// else; the gate asks about a client that attaches, and counts otherwise.

import type { Authenticated } from "../auth/authenticate.ts";
import { type Tenant, tenantKey } from "../auth/names.ts";
import { authProvider } from "../auth/provider.ts";
import type { AuthEnv } from "../auth/settings.ts";
import type { TenantsEnv } from "../limits/limit-calls.ts";
import { type RevocableGrant, revocableOf } from "../limits/revocation.ts";
import { AuthFault } from "../refusal/fault.ts";

export type { Authenticated };

/** The bindings that identifying needs. */
export type IdentifyEnv = AuthEnv & TenantsEnv;

/** Requests that the Worker makes for one that it has identified before. */
const identified = new WeakMap<Request, Authenticated>();

/** Says who makes a request of the Worker's own: it counts as no other call. */
export function identifiedBefore(request: Request, who: Authenticated): void {
  identified.set(request, who);
}

/**
 * Authenticates one request and asks the bearer's tenant about them. Says who it is, not what they may do: see `requireScope`.
 * @param takesQuery Whether `?token=` counts: addresses end up in logs, so only for pages that come by a link.
 * @throws {AuthFault} As `AuthProvider.authenticate`; `no_token`, `revoked`, `too_many_calls`.
 */
export async function identify(request: Request, env: IdentifyEnv, takesQuery = false): Promise<Authenticated> {
  const before = identified.get(request);
  if (before !== undefined) return before;
  const who = await authProvider().authenticate(request, env);
  if (who.source === "query" && !takesQuery)
    throw new AuthFault("no_token", "Give the token in the Authorization header: the API takes none in the address");
  await requireUnrevoked(env, who.identity, who.identity.subject, revocableOf(who.identity));
  return who;
}

/**
 * Asks a tenant whether something of its was revoked. Counts as a call of the API.
 * @param caller Among whose calls it counts.
 * @throws {AuthFault} `revoked`, `too_many_calls`.
 */
export async function requireUnrevoked(
  env: TenantsEnv,
  tenant: Tenant,
  caller: string,
  grant: RevocableGrant,
): Promise<void> {
  const answer = await env.TENANT.getByName(await tenantKey(tenant)).call(caller, grant);
  switch (answer.kind) {
    case "admitted":
      return;
    case "revoked":
      throw new AuthFault("revoked", "The token, its user or the login was revoked");
    case "too_many":
      throw new AuthFault("too_many_calls", "Too many calls within a minute", answer);
  }
}
