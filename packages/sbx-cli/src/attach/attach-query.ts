// The query of an attach. Pure.

import { attachParams, MAX_KEPT_INPUT_BYTES, parseAttachQuery } from "sandbox-stdio/core";
import type { AttachRequest } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { usage } from "../base/outcome.ts";

/** Local variables that a program on a PTY gets. */
const FORWARDED_VARIABLES = ["TERM", "COLORTERM", "LANG"] as const;
const TOO_LONG = /^the command is too long/;

/** Whether the command fits a URL; else it is started over HTTP. @throws {CliError} If the server would refuse it anyway. */
export function fitsUrl(request: AttachRequest): boolean {
  const params = attachQuery(request, false, undefined);
  const query = parseAttachQuery(new URLSearchParams([...params, ["attempt", "a.0"]]));
  if (query.ok) return true;
  if (TOO_LONG.test(query.detail) && request.ticket === undefined && request.cmd !== undefined) return false;
  throw usage(query.detail);
}

/**
 * The query's parameters except the session's name and position.
 * @param isTerminal Whether standard input and output are both terminals. @param size The local window's.
 * @param hasStarted Whether an earlier run started the process, which must not be replaced.
 */
export function attachQuery(
  request: AttachRequest,
  isTerminal: boolean,
  size: { cols: number; rows: number } | undefined,
  localEnv: Environment = {},
  hasStarted = false,
): [string, string][] {
  // Always explicit: the server's default depends on the command.
  const tty = request.tty ?? isTerminal;
  const isViewing = request.role === "viewer" || request.ticket !== undefined;
  const isUnnamed = request.session === undefined && request.resumeFile === undefined && !isViewing;
  const { sandbox, cmd, args, cwd } = request;
  const env = tty && isTerminal && !isViewing ? withTerminal(request.env, localEnv) : request.env;
  return attachParams({
    ...request,
    sandbox,
    session: undefined,
    process: { ...request, cmd, args, env, cwd, tty },
    size: tty ? size : undefined,
    keeps: isViewing ? undefined : MAX_KEPT_INPUT_BYTES,
    ended: isViewing || hasStarted || request.readsEnded === true ? undefined : "replace",
    isUnnamed: isUnnamed || undefined,
  });
}

/** Explicit variables come last: the last value of a name wins. */
function withTerminal(env: AttachRequest["env"], localEnv: Environment): (readonly [string, string])[] {
  const forwarded = FORWARDED_VARIABLES.flatMap((name): [string, string][] => {
    const value = localEnv[name];
    return value ? [[name, value]] : [];
  });
  return [...forwarded, ...env];
}
