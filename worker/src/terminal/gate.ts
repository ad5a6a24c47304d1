// The demands on a client of `/terminal/*`, beyond the right to attach.

import type { Grant } from "../attach/grant.ts";
import { AuthFault } from "../refusal/fault.ts";
import { readTerminalSettings, type TerminalEnv } from "./settings.ts";

/**
 * @param role As it was asked for; undefined where nothing was.
 * @returns Whether a ttyd in the sandbox answers, and no session of ours.
 * @throws {AuthFault} `insufficient_scope`, `no_viewers`, `misconfigured`.
 */
export function terminalGate(env: TerminalEnv, { mayExec }: Pick<Grant, "mayExec">, role: string | undefined): boolean {
  const { ttyd } = readTerminalSettings(env);
  if (ttyd === undefined) return false;
  if (!mayExec) {
    throw new AuthFault("insufficient_scope", "A ttyd lets nobody only look on: this needs the scope sandbox:exec");
  }
  // It would type like everybody else.
  if ((role ?? "driver") !== "driver") throw new AuthFault("no_viewers", "A ttyd lets nobody only look on");
  return true;
}
