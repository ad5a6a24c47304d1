// The callers of the sandbox API (V1): any Bearer, as everywhere, and only for a sandbox that was made here and not deleted (V2).

import type { EntryEnv } from "../attach/entry-limits.ts";
import type { SandboxScope } from "../auth/identity.ts";
import { type Tenant, tenantKey } from "../auth/names.ts";
import type { ProjectEnv } from "../auth/project-gate.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import type { IdentifyEnv } from "../guards/identify.ts";
import type { TenantCalls, TenantsEnv } from "../limits/limit-calls.ts";
import { type Authorized, authorized } from "../programs/authorized.ts";
import type { DirectoryEnv } from "../sandbox/directory.ts";
import { refuse } from "./refuse.ts";

export type SandboxApiEnv = IdentifyEnv & ProjectEnv & EntryEnv & DirectoryEnv & BridgeEnv;

/** The ids that are given here. */
const MADE_ID = /^[0-9a-f]{32}$/;
/** In place of all ids that are not: they may be no names either. */
const NEVER_MADE = "none";

/** @returns The caller, or 404. @throws {AuthFault} */
export async function enter(
  request: Request,
  env: SandboxApiEnv,
  sandbox: string,
  scope: SandboxScope,
): Promise<Authorized | Response> {
  const who = await authorized(request, env, MADE_ID.test(sandbox) ? sandbox : NEVER_MADE, scope);
  const isThere = (await tenantOf(env, who.identity)).hasMadeSandbox(who.project.sandboxKey);
  return (await isThere) ? who : refuse(404, "not_found", `no sandbox "${sandbox}"`);
}

export function freshId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

export async function tenantOf(env: TenantsEnv, tenant: Tenant): Promise<DurableObjectStub<TenantCalls>> {
  return env.TENANT.getByName(await tenantKey(tenant));
}
