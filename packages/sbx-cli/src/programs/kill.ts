// `kill`: ends sessions one after the other, and reports which had ended before.

import { isRecord } from "sandbox-stdio/core";
import type { CliCommand } from "../args/cli-command.ts";
import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { notify, print } from "../base/print.ts";
import { withAdvice } from "../base/server-errors.ts";
import { fetchJson } from "../connection/api-call.ts";
import { killSession } from "./sessions.ts";

type KillCommand = Extract<CliCommand, { kind: "kill" }>;

/** Tries all. @returns The exit code of the first failure. @throws {CliError} If the only one fails. */
export async function kill({ sessions, ...target }: KillCommand, token: string): Promise<Outcome> {
  const { endpoint, sandbox, isJson } = target;
  let code: number = EXIT.ok;
  for (const session of sessions) {
    try {
      const state = isJson ? undefined : await stateOf(target, session, token);
      await killSession(endpoint, sandbox, session, token);
      if (isJson) await print(`${safeJson({ sandbox, session })}\n`);
      else notify(endMessage(session, sandbox, state));
    } catch (error) {
      if (!(error instanceof CliError) || sessions.length === 1) throw error;
      if (isJson) await print(`${safeJson({ sandbox, session, error: error.code, message: error.message })}\n`);
      notify(withAdvice(error, endpoint).message);
      if (code === EXIT.ok) code = error.exitCode;
    }
  }
  return exitWith(code);
}

/** @returns undefined if the server does not know it. */
async function stateOf(
  { endpoint, sandbox }: Pick<KillCommand, "endpoint" | "sandbox">,
  session: string,
  token: string,
): Promise<unknown> {
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
  try {
    const answer = await fetchJson(endpoint, path, token);
    return isRecord(answer) ? answer.state : undefined;
  } catch (error) {
    // Don't wait twice for a silent server. Other faults are reported by ending the session.
    if (error instanceof CliError && error.code === "unreachable") throw error;
    return undefined;
  }
}

function endMessage(session: string, sandbox: string, state: unknown): string {
  const where = `session ${session} in sandbox ${sandbox}`;
  if (state === "exited") return `${where} had already ended; its log is deleted`;
  return state === "lost" ? `${where} was already lost; its log is deleted` : `${where} has ended`;
}
