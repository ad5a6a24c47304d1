// The callers of the sandbox API (V1): any Bearer, as everywhere, and only for a sandbox that was made here and not deleted (V2). Refusals
// are `{error, code}`, the words first, where other routes say `{error, message}`.

import type { CommandEnv } from "../attach/command-policy.ts";
import type { EntryEnv } from "../attach/entry-limits.ts";
import { logRefused } from "../audit/worker-log.ts";
import type { SandboxScope } from "../auth/identity.ts";
import { type Tenant, tenantKey } from "../auth/names.ts";
import type { ProjectEnv } from "../auth/project-gate.ts";
import { log } from "../base/log.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import type { IdentifyEnv } from "../guards/identify.ts";
import type { TenantCalls, TenantsEnv } from "../limits/limit-calls.ts";
import { type Authorized, authorized } from "../programs/authorized.ts";
import type { ProgramAnswer } from "../programs/operations/call.ts";
import { respond } from "../programs/respond.ts";
import { AuthFault, refusal } from "../refusal/fault.ts";
import type { DirectoryEnv } from "../sandbox/directory.ts";

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

// ---- Refusals ----------------------------------------------------------------------------------------------------

export function refuse(status: number, code: string, error: string): Response {
  return Response.json({ error, code }, { status, headers: { "Cache-Control": "no-store" } });
}

/** The same refusal as another route's, in the words of this one. */
export function refuseAs(answer: ProgramAnswer): Response {
  const { error: code, message: error } = answer.body;
  return respond({ ...answer, body: { error, code } });
}

/** @param response Of a route whose refusals are JSON. */
export async function reworded(response: Response): Promise<Response> {
  if (response.status < 400) return response;
  const { error: code, message: error } = (await response.json()) as { error?: unknown; message?: unknown };
  return new Response(JSON.stringify({ error, code }), response);
}

export async function answerFault(error: Error, { req }: { readonly req: { readonly raw: Request } }) {
  if (!(error instanceof AuthFault)) {
    // The cause stays in the log.
    log.error("a request failed:", error);
    return refuse(500, "internal", "something went wrong here");
  }
  logRefused(req.raw, error);
  return reworded(refusal(error));
}
