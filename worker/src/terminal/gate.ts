// What is asked of whoever comes to `/terminal/*`, beyond the right to attach.

import type { Grant } from "../attach/grant.ts";
import { AuthFault } from "../auth/fault.ts";
import { readTerminalSettings, type TerminalEnv } from "./settings.ts";

/**
 * @returns Whether a ttyd in the sandbox answers, and no session of ours.
 * @throws {AuthFault} `insufficient_scope`, `misconfigured`.
 */
export function terminalGate(env: TerminalEnv, { mayExec }: Pick<Grant, "mayExec">): boolean {
  const { ttyd } = readTerminalSettings(env);
  if (ttyd !== undefined && !mayExec) {
    throw new AuthFault("insufficient_scope", "A ttyd lets nobody only look on: this needs the scope sandbox:exec");
  }
  return ttyd !== undefined;
}
