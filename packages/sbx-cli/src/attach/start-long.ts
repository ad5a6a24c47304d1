// A command too long for a URL: started over HTTP, then attached to by its session name.

import type { CreateRequest } from "sandbox-stdio/client";
import { toBody } from "sandbox-stdio/core";
import type { AttachRequest } from "../args/cli-command.ts";
import { quickApiCall, sandboxOf } from "../programs/programs.ts";

/**
 * Starts the process unless this attempt already did.
 * @returns The request that attaches to it. @throws {CliError}
 */
export async function startLong(
  request: AttachRequest & { readonly session: string; readonly cmd: string },
  isTerminal: boolean,
  size: { readonly cols: number; readonly rows: number } | undefined,
  attempt: string,
  token: () => Promise<string>,
): Promise<AttachRequest> {
  const { session, cmd, args, env } = request;
  const tty = request.tty ?? isTerminal;
  const body: CreateRequest = {
    ...toBody(request),
    cmd,
    args: [...args],
    env: Object.fromEntries(env),
    tty,
    delivery: request.delivery ?? (tty ? "live" : "lossless"),
    ended: "replace",
    attempt,
    ...(tty ? size : undefined),
  };
  await quickApiCall(() => sandboxOf(request, token).session(session).create(body));
  return { ...request, cmd: undefined, args: [], env: [], cwd: undefined, tty };
}
