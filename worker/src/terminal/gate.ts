// What `/terminal/*` requires beyond the right to attach, if a ttyd in the sandbox serves it: that ttyd knows no viewers.

import type { Grant } from "../attach/grant.ts";
import { AuthFault } from "../refusal/fault.ts";
import { readTerminalSettings, type TerminalEnv } from "./settings.ts";

/**
 * @param role The requested role, if any.
 * @returns Whether a ttyd in the sandbox serves the client, instead of a session.
 * @throws {AuthFault} `insufficient_scope`, `no_viewers`, `misconfigured`.
 */
export function terminalGate(env: TerminalEnv, { mayExec }: Pick<Grant, "mayExec">, role: string | undefined): boolean {
  const { ttyd } = readTerminalSettings(env);
  if (ttyd === undefined) return false;
  if (!mayExec) {
    throw new AuthFault("insufficient_scope", "This ttyd has no viewers: attaching needs the scope sandbox:exec");
  }
  if ((role ?? "driver") !== "driver")
    throw new AuthFault("no_viewers", "This ttyd has no viewers: every client of it can type");
  return true;
}
