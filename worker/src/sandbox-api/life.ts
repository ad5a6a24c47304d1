// Life and end of a sandbox that was made by the sandbox API (V2). Neither asking nor ending starts anything.

import { log } from "../base/log.ts";
import { readText } from "../base/read-text.ts";
import { type AskedSandbox, fetchFolder } from "../bridge/files.ts";
import { isAwake } from "../bridge/upstream.ts";
import type { Authorized } from "../programs/authorized.ts";
import { readSaid } from "../sandbox/said.ts";
import { type SandboxApiEnv, tenantOf } from "./caller.ts";
import { forget } from "./exec-session.ts";

/** The bridge gives itself ten seconds. */
const PATIENCE_MS = 15_000;
const MAX_SAID_BYTES = 16 * 1024;

export function isRunning(env: SandboxApiEnv, { sandboxKey }: AskedSandbox): Promise<boolean> {
  return isAwake(env, sandboxKey);
}

/** Asks a local bridge, which has many sandboxes, for a /workspace of this one. @returns Why there can be none, if so. */
export async function prepare(env: SandboxApiEnv, sandbox: AskedSandbox): Promise<string | undefined> {
  return env.BRIDGE_URL ? askWorkspace(env, sandbox, "POST") : undefined;
}

async function askWorkspace(
  env: SandboxApiEnv,
  sandbox: AskedSandbox,
  method: "POST" | "DELETE",
): Promise<string | undefined> {
  try {
    const response = await fetchFolder(env, sandbox, "/workspace", {
      method,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (response.ok) return undefined;
    const { text } = await readText(response, MAX_SAID_BYTES, PATIENCE_MS);
    return readSaid(text).message ?? `${response.status}`;
  } catch (error) {
    log.warn("no answer from the bridge:", error);
    return "the bridge does not answer";
  }
}

/** Its name is the last thing to go: who is told of a failure may ask again. */
export async function deleteSandbox(env: SandboxApiEnv, { identity, project, actor }: Authorized): Promise<void> {
  const { sandboxKey } = project;
  const directory = env.DIRECTORY.getByName(sandboxKey);
  const names = await directory.list();
  await Promise.all(names.map(async (name) => env.SESSION.getByName(await project.sessionKey(name)).end(actor)));
  await forget(env, project, await directory.removeExecSessions());
  // A local bridge serves other sandboxes too.
  if (env.BRIDGE_URL) await askWorkspace(env, project, "DELETE");
  else await env.Sandbox.getByName(sandboxKey).endContainer();
  await (await tenantOf(env, identity)).deleteSandbox(sandboxKey);
}
