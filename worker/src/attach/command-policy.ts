// Which commands a session may be started with: lists by scope. A policy on what is started, and no sandbox: whoever may
// start a shell may start anything from it.

import { CLOSE } from "@sbx/sandbox-stdio";
import type { Refusal } from "../refusal.ts";

/** Variables of the Worker: commands, comma separated. Absent or empty: no such list. */
export interface CommandEnv {
  /** Only these may be started. An entry is compared with the whole `cmd` as it was asked for. */
  readonly COMMAND_ALLOW?: string;
  /** These may not be started. One without a slash counts for every path that ends in it, too. */
  readonly COMMAND_BLOCK?: string;
  /** For tokens with sandbox:admin, in place of the other two, where either is set. `*` in the first: anything. */
  readonly COMMAND_ALLOW_ADMIN?: string;
  readonly COMMAND_BLOCK_ADMIN?: string;
}

/** Why `cmd` may not be started by somebody with, or without, the scope sandbox:admin; undefined where it may. */
export function commandRefusal(env: CommandEnv, cmd: string, isAdmin: boolean): Refusal | undefined {
  const hasOwnLists = isAdmin && Boolean(env.COMMAND_ALLOW_ADMIN || env.COMMAND_BLOCK_ADMIN);
  const allowed = list(hasOwnLists ? env.COMMAND_ALLOW_ADMIN : env.COMMAND_ALLOW);
  const blocked = list(hasOwnLists ? env.COMMAND_BLOCK_ADMIN : env.COMMAND_BLOCK);
  const name = cmd.slice(cmd.lastIndexOf("/") + 1);
  const isBlocked = blocked.some((entry) => entry === cmd || (!entry.includes("/") && entry === name));
  const isAllowed = allowed.length === 0 || allowed.includes("*") || allowed.includes(cmd);
  if (isAllowed && !isBlocked) return undefined;
  const reason = isBlocked ? "is on the list of commands that may not be started" : "is not among those that may be";
  return { code: CLOSE.forbidden, error: "cmd_forbidden", message: `the command ${JSON.stringify(cmd)} ${reason}` };
}

function list(value: string | undefined): string[] {
  return (value ?? "").split(",").flatMap((item) => item.trim() || []);
}
