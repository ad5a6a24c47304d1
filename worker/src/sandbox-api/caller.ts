// The callers of the sandbox API (V1): any Bearer, as everywhere, and only for a sandbox that was made here and not deleted (V2).

import type { CommandEnv } from "../attach/command-policy.ts";
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

export type SandboxApiEnv = IdentifyEnv & ProjectEnv & EntryEnv & DirectoryEnv & BridgeEnv & CommandEnv;

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
  const isThere = MADE_ID.test(sandbox) && (await hasMade(env, who.identity, who.project.sandboxKey));
  return isThere ? who : refuse(404, "not_found", `no sandbox "${sandbox}"`);
}

export async function hasMade(env: TenantsEnv, tenant: Tenant, sandboxKey: string): Promise<boolean> {
  return (await tenantOf(env, tenant)).hasMadeSandbox(sandboxKey);
}

/** A WebSocket of a client that can't set headers has its `Authorization` in the query: nothing reads it there from here on. */
export function withParameterAsHeader(request: Request): Request {
  const url = new URL(request.url);
  const given = url.searchParams.get("authorization");
  if (given === null) return request;
  url.searchParams.delete("authorization");
  const headers = new Headers(request.headers);
  if (!headers.has("Authorization")) headers.set("Authorization", given);
  return new Request(url, { method: request.method, headers, signal: request.signal });
}

export function freshId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

export async function tenantOf(env: TenantsEnv, tenant: Tenant): Promise<DurableObjectStub<TenantCalls>> {
  return env.TENANT.getByName(await tenantKey(tenant));
}
