// `attach NAME`, without a command, means a session that runs: a new shell under that name would forget what is kept of one that
// has ended, and a name that was not typed well would be started. Other words start one where none runs, and replace only what was
// seen to have ended: one that ends just while it is attached to is read.

import { type Description, StdioError } from "sandbox-stdio/client";
import type { AttachCommand, AttachWish } from "../args/cli-command.ts";
import { CliError } from "../base/outcome.ts";
import { askingSoon, isNoServer, sandboxOf } from "./programs.ts";

/** @returns What is known of it then. @throws {CliError} Where it must run and does not: what can be done. */
export async function lookedAt(
  { wish, mustRun }: AttachCommand,
  token: () => Promise<string>,
): Promise<Pick<AttachWish, "readsEnded">> {
  const { session = "" } = wish;
  if (mustRun === true) {
    const why = whyNotRunning(session, wish.sandbox, await askingSoon(() => described(wish, session, token)));
    if (why !== undefined) throw new CliError(why);
    return { readsEnded: true };
  }
  try {
    const found = await askingSoon(() => described(wish, session, token, 0));
    return { readsEnded: found === undefined || found.state === "running" };
  } catch (error) {
    // To attach fails for the same reason, or tries again. Until it is known, nothing is replaced.
    if (error instanceof CliError) return { readsEnded: true };
    throw error;
  }
}

async function described(
  wish: AttachWish,
  session: string,
  token: () => Promise<string>,
  retries?: number,
): Promise<Description | undefined> {
  try {
    return await sandboxOf(wish, token, retries).session(session).describe();
  } catch (error) {
    if (error instanceof StdioError && error.code === "not_found" && !isNoServer(error)) return undefined;
    throw error;
  }
}

function whyNotRunning(name: string, sandbox: string, found: Description | undefined): string | undefined {
  const anew = `attach ${name} --create starts a shell under that name, attach ${name} -- COMMAND a command`;
  if (found === undefined) return `there is no session ${name} in sandbox ${sandbox}: ls shows what there is; ${anew}`;
  const { state, exit } = found;
  if (state === "running") return undefined;
  const signal = exit?.signal === undefined ? "" : `, ${exit.signal}`;
  const how = state === "lost" || exit === undefined ? "was lost" : `has ended (exit code ${exit.code}${signal})`;
  return `session ${name} ${how}: logs ${name} prints what it said, and what is kept is forgotten when the name starts anew; ${anew}`;
}
