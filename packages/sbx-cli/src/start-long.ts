// A command that is too long for an address: made over HTTP, in a body, and then attached to by its name.

import type { CreateRequest } from "sandbox-stdio/client";
import { toBody } from "sandbox-stdio/core";
import type { AttachWish } from "./cli-command.ts";
import { askingSoon, sandboxOf } from "./programs.ts";

/**
 * Starts the process, unless that has happened.
 * @param attempt The same attempt starts one process, however often it is asked for.
 * @returns The rest of the wish: to attach to it. @throws {CliError}
 */
export async function startLong(
  wish: AttachWish & { readonly session: string; readonly cmd: string },
  isTerminal: boolean,
  size: { readonly cols: number; readonly rows: number } | undefined,
  attempt: string,
  token: () => Promise<string>,
): Promise<AttachWish> {
  const { session, cmd, args, env } = wish;
  const tty = wish.tty ?? isTerminal;
  const request: CreateRequest = {
    ...toBody(wish),
    cmd,
    args: [...args],
    env: Object.fromEntries(env),
    tty,
    delivery: wish.delivery ?? (tty ? "live" : "lossless"),
    ended: "replace",
    attempt,
    ...(tty ? size : undefined),
  };
  await askingSoon(() => sandboxOf(wish, token).session(session).create(request));
  return { ...wish, cmd: undefined, args: [], env: [], cwd: undefined, tty };
}
