// A command that is too long for an address: made over HTTP, in a body, and then attached to by its name.

import type { CreateRequest } from "sandbox-stdio/client";
import { parseAttachQuery } from "sandbox-stdio/core";
import { attachQuery } from "./attach-query.ts";
import type { AttachWish } from "./cli-command.ts";
import { usage } from "./outcome.ts";
import { asking, sandboxOf } from "./programs.ts";

/** An address takes so much, not counting the command. */
const TOO_LONG = /^the command is too long/;

/** Whether what is wished fits an address. @throws {CliError} Where it would be refused for another reason. */
export function fitsAddress(wish: AttachWish): boolean {
  const params = attachQuery(wish, false, undefined);
  const query = parseAttachQuery(new URLSearchParams([...params, ["attempt", "a.0"]]));
  if (query.ok) return true;
  if (TOO_LONG.test(query.detail) && wish.ticket === undefined && wish.cmd !== undefined) return false;
  throw usage(query.detail);
}

/**
 * Starts the process, unless that has happened.
 * @param attempt The same attempt starts one process, however often it is asked for.
 * @returns What is left to wish: to attach to it. @throws {CliError}
 */
export async function startLong(
  wish: AttachWish & { readonly session: string; readonly cmd: string },
  isTerminal: boolean,
  size: { readonly cols: number; readonly rows: number } | undefined,
  attempt: string,
  token: () => Promise<string>,
): Promise<AttachWish> {
  const { session, cmd, args, env, cwd, mode, keep, linger } = wish;
  const tty = wish.tty ?? isTerminal;
  const request: CreateRequest = {
    cmd,
    args: [...args],
    env: Object.fromEntries(env),
    tty,
    delivery: wish.delivery ?? (tty ? "live" : "lossless"),
    ended: "replace",
    attempt,
    ...(cwd === undefined ? {} : { cwd }),
    ...(tty && size !== undefined ? size : {}),
    ...(mode === undefined ? {} : { mode }),
    ...(keep === undefined ? {} : { keepSeconds: keep }),
    ...(linger === undefined ? {} : { lingerSeconds: linger }),
  };
  await asking(() => sandboxOf(wish, token).session(session).create(request));
  return { ...wish, cmd: undefined, args: [], env: [], cwd: undefined, tty };
}
