// `kill`: ends sessions, one after the other, and says which of them had ended before.

import { isRecord } from "sandbox-stdio/core";
import type { CliCommand } from "../args/cli-command.ts";
import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { aside, print } from "../base/print.ts";
import { advised } from "../base/server-words.ts";
import { askJson } from "../connection/api-call.ts";
import { killSession } from "./sessions.ts";

type KillCommand = Extract<CliCommand, { kind: "kill" }>;

/** All are tried. @returns The code of the first that failed. @throws {CliError} Where the only one fails. */
export async function kill({ sessions, ...place }: KillCommand, token: string): Promise<Outcome> {
  const { endpoint, sandbox, isJson } = place;
  let code: number = EXIT.ok;
  for (const session of sessions) {
    try {
      const state = isJson ? undefined : await stateOf(place, session, token);
      await killSession(endpoint, sandbox, session, token);
      if (isJson) await print(`${safeJson({ sandbox, session })}\n`);
      else aside(endWords(session, sandbox, state));
    } catch (error) {
      if (!(error instanceof CliError) || sessions.length === 1) throw error;
      if (isJson) await print(`${safeJson({ sandbox, session, error: error.code, message: error.message })}\n`);
      aside(advised(error, endpoint).message);
      if (code === EXIT.ok) code = error.exitCode;
    }
  }
  return exitWith(code);
}

/** @returns undefined where the server does not say: an older one, or no such session. */
async function stateOf(
  { endpoint, sandbox }: Pick<KillCommand, "endpoint" | "sandbox">,
  session: string,
  token: string,
): Promise<unknown> {
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
  try {
    const answer = await askJson(endpoint, path, token);
    return isRecord(answer) ? answer.state : undefined;
  } catch (error) {
    // Silence is not waited for twice. What else is wrong is said when the session is to be ended.
    if (error instanceof CliError && error.code === "unreachable") throw error;
    return undefined;
  }
}

function endWords(session: string, sandbox: string, state: unknown): string {
  const where = `session ${session} in sandbox ${sandbox}`;
  if (state === "exited") return `${where} had ended before; its log is forgotten`;
  return state === "lost" ? `${where} was lost before; its log is forgotten` : `${where} has ended`;
}
