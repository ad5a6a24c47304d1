// The query of an attach, made of the wish on the command line. Pure.

import { attachParams, MAX_KEPT_INPUT_BYTES } from "sandbox-stdio/core";
import type { AttachWish } from "./cli-command.ts";

/** The variables of this side that a program on a PTY gets: its terminal's abilities, and the language. */
const PASSED_ON = ["TERM", "COLORTERM", "LANG"] as const;

/**
 * The query's parameters, but for the session's name and the known place in it.
 * @param isTerminal Whether standard input and output are both terminals. @param size The window's, where it has one.
 * @param around This side's environment. @param hasPlace Whether an earlier run has been there: its process is not replaced.
 */
export function attachQuery(
  wish: AttachWish,
  isTerminal: boolean,
  size: { cols: number; rows: number } | undefined,
  around: Readonly<Record<string, string | undefined>> = {},
  hasPlace = false,
): [string, string][] {
  // Always said: without a command the server would take a PTY, with one pipes.
  const tty = wish.tty ?? isTerminal;
  const isOnlyLooking = wish.role === "viewer" || wish.ticket !== undefined;
  const isUnnamed = wish.session === undefined && wish.resumeFile === undefined && !isOnlyLooking;
  const { sandbox, cmd, args, cwd } = wish;
  const env = tty && isTerminal && !isOnlyLooking ? withTerminal(wish.env, around) : wish.env;
  return attachParams({
    ...wish,
    sandbox,
    session: undefined,
    process: { ...wish, cmd, args, env, cwd, tty },
    size: tty ? size : undefined,
    keeps: isOnlyLooking ? undefined : MAX_KEPT_INPUT_BYTES,
    ended: isOnlyLooking || hasPlace || wish.readsEnded === true ? undefined : "replace",
    isUnnamed: isUnnamed || undefined,
  });
}

/** A variable that the command line names comes last, and counts. */
function withTerminal(
  env: AttachWish["env"],
  around: Readonly<Record<string, string | undefined>>,
): [string, string][] {
  const own = PASSED_ON.flatMap((name): [string, string][] => {
    const value = around[name];
    return value ? [[name, value]] : [];
  });
  return [...own, ...env.map(([name, value]): [string, string] => [name, value])];
}
