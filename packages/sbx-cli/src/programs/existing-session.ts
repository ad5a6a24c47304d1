// `attach NAME` without a command means a running session: a typing error must not start a shell, nor delete the log of an ended
// session. Other forms start a session, but replace only one that had ended before; one that ends meanwhile is read.

import { type Description, StdioError } from "sandbox-stdio/client";
import type { AttachCommand, AttachRequest } from "../args/cli-command.ts";
import { CliError } from "../base/outcome.ts";
import { isNoServer, quickApiCall, sandboxOf } from "./programs.ts";

/** @returns How to attach. @throws {CliError} If the session must run but does not. */
export async function checkExisting(
  { request, mustRun }: AttachCommand,
  token: () => Promise<string>,
): Promise<Pick<AttachRequest, "readsEnded">> {
  const { session = "" } = request;
  if (mustRun === true) {
    const why = whyNotRunning(session, request.sandbox, await quickApiCall(() => describe(request, session, token)));
    if (why !== undefined) throw new CliError(why);
    return { readsEnded: true };
  }
  try {
    const found = await quickApiCall(() => describe(request, session, token, 0));
    return { readsEnded: found === undefined || found.state === "running" };
  } catch (error) {
    // Attaching will fail for the same reason, or retry. Until it is known, nothing is replaced.
    if (error instanceof CliError) return { readsEnded: true };
    throw error;
  }
}

async function describe(
  request: AttachRequest,
  session: string,
  token: () => Promise<string>,
  retries?: number,
): Promise<Description | undefined> {
  try {
    return await sandboxOf(request, token, retries).session(session).describe();
  } catch (error) {
    if (error instanceof StdioError && error.code === "not_found" && !isNoServer(error)) return undefined;
    throw error;
  }
}

function whyNotRunning(name: string, sandbox: string, found: Description | undefined): string | undefined {
  const anew = `start a shell with attach ${name} --create, or a command with attach ${name} -- COMMAND`;
  if (found === undefined) return `no session ${name} in sandbox ${sandbox}; list sessions with ls; ${anew}`;
  const { state, exit } = found;
  if (state === "running") return undefined;
  const signal = exit?.signal === undefined ? "" : `, ${exit.signal}`;
  const how = state === "lost" || exit === undefined ? "was lost" : `has ended (exit code ${exit.code}${signal})`;
  return `session ${name} ${how}; print its output with logs ${name} before a new start deletes it; ${anew}`;
}
