// What an attach asks for, made of the wish on the command line. Pure.

import { randomBytes } from "node:crypto";
import { attachParams } from "sandbox-stdio/core";
import type { AttachWish } from "./args.ts";

/**
 * The query's parameters, but for the session's name and what is known of the place in it.
 * @param isTerminal Whether standard input and output are both terminals. @param size The window's, where it has one.
 */
export function attachQuery(
  wish: AttachWish,
  isTerminal: boolean,
  size: { cols: number; rows: number } | undefined,
): [string, string][] {
  // Always said: without a command the server would take a PTY, with one pipes.
  const tty = wish.tty ?? isTerminal;
  return attachParams({
    sandbox: wish.sandbox,
    process: {
      ...(wish.cmd === undefined ? {} : { cmd: wish.cmd }),
      args: wish.args,
      env: wish.env,
      ...(wish.cwd === undefined ? {} : { cwd: wish.cwd }),
      tty,
      ...(wish.mode === undefined ? {} : { mode: wish.mode }),
      ...(wish.keep === undefined ? {} : { keep: wish.keep }),
    },
    ...(tty && size !== undefined ? { size } : {}),
    ...(wish.name === undefined ? {} : { name: wish.name }),
    ...(wish.role === undefined ? {} : { role: wish.role }),
    ...(wish.delivery === undefined ? {} : { delivery: wish.delivery }),
  });
}

/** A name that nobody else has: 40 bits of chance. */
export function freshSessionName(): string {
  let bits = 0n;
  for (const byte of randomBytes(5)) bits = (bits << 8n) | BigInt(byte);
  return `cli-${bits.toString(32).padStart(8, "0")}`;
}
