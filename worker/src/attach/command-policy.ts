// The commands that a session may be started with: lists by scope. This restricts only the start and is no sandbox: a caller that
// may start a shell can run anything in it.

import { CLOSE } from "sandbox-stdio/core";
import type { Refusal } from "../refusal/refusal.ts";

/**
 * Variables of the Worker: commands, comma separated. Absent or empty: no such list. `tcp:8080` is a connection to that port
 * of the sandbox, `tcp:*` one to any.
 */
export interface CommandEnv {
  /**
   * The only commands that may start, comma separated. `tcp:8080` is a forward or preview of that port, `tcp:*` of any.
   * With a `COMMAND_BLOCK`, port 3000 must be listed: the SDK's server there starts anything. Default: all.
   */
  readonly COMMAND_ALLOW?: string;
  /** Commands that may not start, comma separated. Default: none. */
  readonly COMMAND_BLOCK?: string;
  /** `COMMAND_ALLOW` for `sandbox:admin`; `*`: anything. Default: as for others. */
  readonly COMMAND_ALLOW_ADMIN?: string;
  /** `COMMAND_BLOCK` for `sandbox:admin`. Default: as for others. */
  readonly COMMAND_BLOCK_ADMIN?: string;
}

/** The server of the SDK's image, which runs anything for callers inside its container. */
const SDK_SERVER = "tcp:3000";

/** The characters that a shell expands, unquoted or in double quotes. */
const EXPANDED = /[$`\\*?[\]{}~]/;
const EXPANDED_IN_QUOTES = /[$`\\]/;
/** The usual characters of a program's name. Without the slash: the last part of a path counts as a name too. */
const NAME_CHARACTER = /[\p{L}\p{N}_.+-]/u;

/**
 * Why a command may not be started by a caller with, or without, the scope sandbox:admin; undefined if it may.
 * @param line The command line for the shell `cmd`, if there is one. It is refused if it names a blocked command, or
 * might name one after expansion.
 */
export function commandRefusal(env: CommandEnv, cmd: string, isAdmin: boolean, line?: string): Refusal | undefined {
  const hasOwnLists = isAdmin && Boolean(env.COMMAND_ALLOW_ADMIN || env.COMMAND_BLOCK_ADMIN);
  const allowed = list(hasOwnLists ? env.COMMAND_ALLOW_ADMIN : env.COMMAND_ALLOW);
  const blocked = list(hasOwnLists ? env.COMMAND_BLOCK_ADMIN : env.COMMAND_BLOCK);
  const isPort = /^tcp:\d+$/.test(cmd);
  const isNamed = (entry: string) => entry === cmd || (isPort && entry === "tcp:*");
  const isBlocked = blocked.some((entry) => isNamed(entry) || (!entry.includes("/") && entry === baseName(cmd)));
  if (isBlocked) return refuse(cmd, "is on the list of commands that may not be started");
  const isAllowed = allowed.length === 0 || allowed.includes("*") || allowed.some(isNamed);
  if (!isAllowed) return refuse(cmd, "is not among those that may be");
  const isUnjudged = cmd === SDK_SERVER && blocked.length > 0 && !allowed.some(isNamed);
  if (isUnjudged) return refuse(cmd, "leads to the SDK's own server, which starts any command");
  return line === undefined || blocked.length === 0 ? undefined : lineRefusal(line, blocked);
}

function lineRefusal(line: string, blocked: readonly string[]): Refusal | undefined {
  const plain = unquoted(line);
  if (plain === undefined) {
    return refuse(line, "can't be judged by the list: it holds what the shell would put something else in place of");
  }
  const entry = blocked.find((one) => names(plain, baseName(one)));
  return entry === undefined ? undefined : refuse(line, `names ${JSON.stringify(entry)}, which may not be started`);
}

/** The line without quotes; undefined if expansion could change what runs. */
function unquoted(line: string): string | undefined {
  let plain = "";
  let quote = "";
  for (const character of line) {
    if (character === quote) quote = "";
    else if (quote === "" && (character === "'" || character === '"')) quote = character;
    else if (quote !== "'" && (quote === "" ? EXPANDED : EXPANDED_IN_QUOTES).test(character)) return undefined;
    else plain += character;
  }
  return quote === "" ? plain : undefined;
}

/** Whether a text contains the name as a whole word. */
function names(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0 && name !== ""; at = text.indexOf(name, at + 1)) {
    const [before = "", after = ""] = [text[at - 1], text[at + name.length]];
    if (!NAME_CHARACTER.test(before) && !NAME_CHARACTER.test(after)) return true;
  }
  return false;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function refuse(command: string, reason: string): Refusal {
  const message = `the command ${JSON.stringify(command)} ${reason}`;
  return { code: CLOSE.forbidden, error: "cmd_forbidden", message };
}

function list(value: string | undefined): string[] {
  return (value ?? "").split(",").flatMap((item) => item.trim() || []);
}
