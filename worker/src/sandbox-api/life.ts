// Life and end of a sandbox that was made by the sandbox API (V2). Neither asking nor ending starts anything.

import { isAwake } from "../bridge/upstream.ts";
import type { Authorized } from "../programs/authorized.ts";
import { type SandboxApiEnv, tenantOf } from "./caller.ts";

export function isRunning(env: SandboxApiEnv, { project }: Authorized): Promise<boolean> {
  return isAwake(env, project.sandboxKey);
}

/** Its name is the last thing to go: who is told of a failure may ask again. */
export async function deleteSandbox(env: SandboxApiEnv, { identity, project, actor }: Authorized): Promise<void> {
  const { sandboxKey } = project;
  const directory = env.DIRECTORY.getByName(sandboxKey);
  const names = await directory.list();
  await Promise.all(names.map(async (name) => env.SESSION.getByName(await project.sessionKey(name)).end(actor)));
  // A local bridge serves other sandboxes too.
  if (!env.BRIDGE_URL) await env.Sandbox.getByName(sandboxKey).endContainer();
  await directory.removeExecSessions();
  await (await tenantOf(env, identity)).deleteSandbox(sandboxKey);
}
