// What is asked of whoever comes to `/terminal/*`, beyond a token of theirs.

import type { Grant } from "../attach/grant.ts";
import { AuthFault } from "../auth/fault.ts";
import { validateProject } from "./project-service.ts";
import { readTerminalSettings, type TerminalEnv } from "./settings.ts";

export type TerminalPass = {
  /** The user's id in the words of the Project Service; undefined where none is asked. */
  readonly user: string | undefined;
  /** Whether a ttyd in the sandbox answers, and no session of ours. */
  readonly isProxied: boolean;
};

/**
 * @param token Undefined with a ticket, of which the Project Service knows nothing.
 * @throws {AuthFault} `not_owner`, `insufficient_scope`, `issuer_unreachable`, `misconfigured`.
 */
export async function terminalGate(
  env: TerminalEnv,
  grant: Pick<Grant, "mayExec" | "user">,
  token: string | undefined,
  project: string,
): Promise<TerminalPass> {
  const { ttyd, projectServiceUrl } = readTerminalSettings(env);
  if (ttyd !== undefined && !grant.mayExec) {
    throw new AuthFault("insufficient_scope", "A ttyd lets nobody only look on: this needs the scope sandbox:exec");
  }
  const isProxied = ttyd !== undefined;
  if (projectServiceUrl === undefined) return { user: undefined, isProxied };
  // Asked when its ticket was made.
  if (grant.user !== undefined) return { user: grant.user, isProxied };
  if (token === undefined)
    throw new AuthFault("not_owner", "The Project Service has to be shown a token, not a ticket");
  return { user: await validateProject(projectServiceUrl, project, token), isProxied };
}
