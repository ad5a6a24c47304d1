// The caller of a request (R1), and the facts about the caller that the session's Durable Object gets.

import { addressOf, type EntryEnv, type Pass, pass } from "../attach/entry-limits.ts";
import { type Grant, grantOfToken } from "../attach/grant.ts";
import type { Actor } from "../audit/record.ts";
import { actorOf } from "../audit/worker-log.ts";
import { type Identity, requireScope, type SandboxScope } from "../auth/identity.ts";
import { type Tenant, tenantKey } from "../auth/names.ts";
import { requirePublicOrigin } from "../auth/origin.ts";
import { openProject, type Project, type ProjectEnv } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import type { AuthEnv } from "../auth/settings.ts";
import { requestId } from "../base/request-id.ts";
import { type IdentifyEnv, identify } from "../guards/identify.ts";
import { addressKey } from "../limits/address-key.ts";
import { AuthFault } from "../refusal/fault.ts";
import type { Refusal } from "../refusal/refusal.ts";

export type Authorized = {
  readonly identity: Identity;
  readonly project: Project;
  readonly who: Grant;
  readonly actor: Actor;
  /** For calls that occupy no slot. */
  readonly pass: Pass;
};

/** The caller, by token or cookie (R1), wherever that is. @throws {AuthFault} */
export async function callerOf(
  request: Request,
  env: IdentifyEnv,
  scope: SandboxScope,
): Promise<{ readonly identity: Identity; readonly token: string }> {
  const { identity, token, source } = await identify(request, env);
  if (source !== "authorization" && source !== "cookie") {
    throw new AuthFault("no_token", "Give the token in the Authorization header");
  }
  if (source === "cookie") requireOwnPage(request, env);
  requireScope(identity, scope);
  return { identity, token };
}

/** @throws {AuthFault} */
export async function authorized(
  request: Request,
  env: IdentifyEnv & ProjectEnv,
  sandbox: string,
  scope: SandboxScope,
): Promise<Authorized> {
  const { identity, token } = await callerOf(request, env, scope);
  const project = await openProject(env, { tenant: identity, token }, sandbox);
  const homeKey = await tenantKey(identity);
  return {
    identity,
    project,
    who: grantOfToken(identity, request.headers.get("Origin") ?? ""),
    actor: actorOf(request, identity, project.user),
    pass: {
      connection: crypto.randomUUID(),
      request: requestId(request),
      address: addressKey(addressOf(request)),
      homeKey,
    },
  };
}

/** Whoever starts a process, and where. */
export type StartedBy = Pick<Authorized, "who"> & {
  readonly identity: Tenant;
  readonly project: Pick<Project, "sandbox" | "sandboxKey" | "user">;
};

/** Lets a call in that makes a session: it counts as an attempt to attach (R3). */
export async function passToStart(
  request: Request,
  env: EntryEnv,
  { identity, project, who }: StartedBy,
  sessionKey: string,
): Promise<Pass | Refusal> {
  const right = { tenant: identity, grant: who, asker: { tenant: identity, asked: { user: project.user } } };
  const { sandboxKey, sandbox } = project;
  const asked = { sessionKey, sandboxKey, sandbox, kind: "other", resume: undefined } as const;
  const passed = await pass(env, request, right, asked, { user: project.user });
  return "code" in passed ? passed : passed.pass;
}

/**
 * Reading changes nothing, and a page of another site can't see the answer: a GET needs no Origin, unless the browser says by
 * itself that another site asks. Everything else with a cookie needs our own Origin.
 */
function requireOwnPage(request: Request, env: AuthEnv): void {
  const site = request.headers.get("Sec-Fetch-Site") ?? "none";
  const isReading = request.method === "GET" && !request.headers.has("Origin");
  if (isReading && (site === "none" || site === "same-origin")) return;
  requirePublicOrigin(request, readEntrySettings(env));
}
