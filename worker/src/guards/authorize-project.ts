// The first checks of an API route: who the caller is, what the caller may do, and whether the project is the caller's.

import { type Identity, requireScope, type SandboxScope } from "../auth/identity.ts";
import { openProject, type Project, type ProjectEnv } from "../auth/project-gate.ts";
import { type IdentifyEnv, identify } from "./identify.ts";

/** The variables that authorizing for a project needs. */
export type ProjectAccessEnv = IdentifyEnv & ProjectEnv;

/** @throws {AuthFault} */
export async function authorizeProject(
  request: Request,
  env: ProjectAccessEnv,
  sandbox: string,
  scope: SandboxScope,
): Promise<{ readonly identity: Identity; readonly project: Project }> {
  const { identity, token } = await identify(request, env);
  requireScope(identity, scope);
  return { identity, project: await openProject(env, { tenant: identity, token }, sandbox) };
}
