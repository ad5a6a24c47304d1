// What a route of the API asks first: who it is, what they may do, and whether the project is theirs.

import { type IdentifyEnv, identify } from "./identify.ts";
import { type Identity, requireScope, type SandboxScope } from "./identity.ts";
import { openProject, type Project, type ProjectEnv } from "./project-gate.ts";

/** What authorizing for a project asks. */
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
