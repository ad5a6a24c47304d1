// The callers of the sandbox API (V1): any Bearer, as everywhere, and only for a sandbox that was made here and not deleted (V2). Refusals
// are `{error, code}`, the words first, where other routes say `{error, message}`.

import type { Context } from "hono";
import { routePath } from "hono/route";
import type * as z from "zod";
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
import { check, readFields } from "../programs/parse.ts";
import { respond } from "../programs/respond.ts";
import { AuthFault, refusal } from "../refusal/fault.ts";
import type { DirectoryEnv } from "../sandbox/directory.ts";

export type SandboxApiEnv = IdentifyEnv & ProjectEnv & EntryEnv & DirectoryEnv & BridgeEnv & CommandEnv;

/** The ids that are given here. */
const MADE_ID = /^[0-9a-f]{32}$/;
/** In place of all ids that are not: they may be no names either. */
const NEVER_MADE = "none";

/** @throws {AuthFault | Refused} 404 where the sandbox is not the caller's. */
export async function enter(c: Context<{ Bindings: SandboxApiEnv }>, scope: SandboxScope): Promise<Authorized> {
  const sandbox = c.req.param("sandbox") ?? "";
  const who = await authorized(c.req.raw, c.env, MADE_ID.test(sandbox) ? sandbox : NEVER_MADE, scope);
  if (MADE_ID.test(sandbox) && (await hasMade(c.env, who.identity, who.project.sandboxKey))) return who;
  throw refuse(404, "not_found", `no sandbox "${sandbox}"`);
}

/** The fields of a body, without those that are not known. @throws {Refused} */
export async function bodyOf<S extends z.ZodObject>(request: Request, schema: S): Promise<z.output<S>> {
  const fields = await readFields(request, "process");
  const parsed = fields.ok ? check(schema, fields.value) : fields;
  if (parsed.ok) return parsed.value;
  throw refuseAs(parsed.answer);
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

/** To be thrown by whatever a route does. */
export class Refused extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super("refused");
    this.response = response;
  }
}

export function refuse(status: number, code: string, error: string): Refused {
  return refuseAs({ status, body: { error: code, message: error } });
}

/** The same refusal as another route's, in the words of this one. */
export function refuseAs(answer: ProgramAnswer): Refused {
  const { error: code, message: error } = answer.body;
  return new Refused(respond({ ...answer, body: { error, code } }));
}

/** @param response Of a route whose refusals are JSON. */
export async function reworded(response: Response): Promise<Response> {
  if (response.status < 400) return response;
  const { error: code, message: error } = (await response.json()) as { error?: unknown; message?: unknown };
  return new Response(JSON.stringify({ error, code }), response);
}

export async function answerFault(error: Error, c: Context) {
  if (error instanceof Refused) return error.response;
  if (!(error instanceof AuthFault)) {
    // The cause stays in the log.
    log.error(`${c.req.method} ${routePath(c, -1)} failed:`, error);
    return refuse(500, "internal", "something went wrong here").response;
  }
  logRefused(c.req.raw, error);
  return reworded(refusal(error));
}
