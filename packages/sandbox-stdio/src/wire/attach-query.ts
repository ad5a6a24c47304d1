// The query of `/attach`: reads and checks it, and writes it back. One reader for the Worker and the bridge, one writer for
// every client.

import { utf8Length } from "../text/utf8.ts";
import { ATTEMPT, type Attempt } from "./attempt.ts";
import {
  DEFAULT_COLS,
  DEFAULT_KEEP_SECONDS,
  DEFAULT_ROWS,
  MAX_COLS,
  MAX_COMMAND_BYTES,
  MAX_KEEP_SECONDS,
  MAX_LINGER_SECONDS,
  MAX_NAME_BYTES,
  MAX_ROWS,
} from "./constants.ts";
import {
  findPaneProblem,
  isControlMode,
  type PaneAddress,
  readPaneAddress,
  wantsPanes,
  writePaneAddress,
} from "./pane-address.ts";
import type { Delivery, Mode, Role } from "./terms.ts";

/** The description of the process: its creator's words count, a later client may omit them. */
export type ProcessWish = {
  /** Absent: `bash`. */
  readonly cmd?: string;
  readonly args: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd?: string;
  readonly tty: boolean;
  readonly mode: Mode;
  readonly delivery: Delivery;
  /** Seconds it lives with no client attached. */
  readonly keep: number;
  /** Whether a shell is to mark its commands. Absent: it is. */
  readonly shellIntegration?: boolean;
  /** Seconds for which output is awaited after the exit, from children that hold the pipes. */
  readonly linger?: number;
  /** No command: a connection to this TCP port of the sandbox's loopback takes the process's place (A13). */
  readonly tcp?: number;
  /** It runs under tmux: clients are told its panes and can attach to them (B1). */
  readonly panes?: true;
  /** No command: a pane of a session of the same sandbox that has panes takes the process's place (B2). */
  readonly pane?: PaneAddress;
};

/** The command that the session is known to run; undefined if the query leaves that open. */
export function commandWords({
  cmd,
  args,
  tcp,
  pane,
}: Pick<ProcessWish, "cmd" | "args" | "tcp" | "pane">): string[] | undefined {
  if (tcp !== undefined) return [`tcp:${tcp}`];
  if (pane !== undefined) return [`pane:${writePaneAddress(pane)}`];
  return cmd === undefined ? undefined : [cmd, ...args];
}

export type AttachQuery = {
  readonly sandbox: string;
  /** Absent: a fresh one. */
  readonly session?: string;
  readonly process: ProcessWish;
  readonly size?: { readonly cols: number; readonly rows: number };
  readonly name: string;
  readonly role: Role;
  /** How this client wants its output, if it says so; {@link ProcessWish.delivery} is the one that a new session gets. */
  readonly delivery: Delivery | undefined;
  readonly wake: boolean;
  readonly offset?: number;
  /** Where a client that resumes goes on with its own input: its kept input starts there, or `new`: it has kept none. */
  readonly stdin?: number | "new";
  /** How much unacknowledged input this client can keep, if it says so (I3b). */
  readonly keeps?: number;
  readonly resume?: string;
  readonly attempt?: Attempt;
  /** If the process of this name has ended, a new one is started. Absent: the client reads the kept log and exit. */
  readonly ended?: "replace";
  /** The name is of the client's own making: no other client will look for the session (L7a). */
  readonly isUnnamed?: true;
  /** The one process that is meant: another one is not attached to, and none is started (A2b). */
  readonly incarnation?: string;
};

/** Where a client that attaches goes on, with the size of its terminal: the session gets these parts of a query unchanged. */
export function placeOf({
  size,
  offset,
  stdin,
  keeps,
  attempt,
}: AttachQuery): Pick<AttachQuery, "size" | "offset" | "stdin" | "keeps" | "attempt"> {
  return {
    ...(size === undefined ? {} : { size }),
    ...(offset === undefined ? {} : { offset }),
    ...(stdin === undefined ? {} : { stdin }),
    ...(keeps === undefined ? {} : { keeps }),
    ...(attempt === undefined ? {} : { attempt }),
  };
}

/** Characters that are not seen in a name, or move a cursor. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{Zl}\p{Zp}]/gu;

export type AttachQueryResult =
  | { readonly ok: true; readonly query: AttachQuery }
  /** `detail` names the parameter, its fault, and a correct value. */
  | { readonly ok: false; readonly detail: string };

const MAX_ARGS = 1024;
const MAX_ENV = 256;
/** Characters of a proof at most. Ours are shorter: the Worker takes no subject that would make one longer. */
const MAX_RESUME = 1024;
/** Letters, digits, dot, dash and underscore, from 1 to 64, starting with a letter, digit or underscore. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;

/** Whether a sandbox or a session may have this name. */
export function isName(name: string): boolean {
  return NAME.test(name);
}

/** A name without unseen characters: with them, a client could pass for another that is here, or turn a line around. */
export function seenName(name: string): string {
  return name.replace(UNSEEN, "").trim();
}

/** Reads a query. Parameters that it does not know, and the credentials among them, are left to others. */
export function parseAttachQuery(params: URLSearchParamsLike): AttachQueryResult {
  const problem = findProblem(params);
  if (problem !== undefined) return { ok: false, detail: problem };
  const hasPanes = wantsPanes(params);
  const isCommand = !isControlMode(params);
  const cmd = isCommand ? (params.get("cmd") ?? undefined) : undefined;
  const isTerminal = (cmd === undefined && !params.get("tcp")) || hasPanes;
  const tty = params.get("tty") === null ? isTerminal : params.get("tty") === "1";
  const delivery = (params.get("delivery") ?? undefined) as Delivery | undefined;
  const session = params.get("session") ?? undefined;
  // Empty is as good as absent: a form or a script that has none.
  const cwd = params.get("cwd") || undefined;
  const resume = params.get("resume") || undefined;
  const incarnation = params.get("incarnation") || undefined;
  const cols = integer(params, "cols");
  const rows = integer(params, "rows");
  const offset = integer(params, "offset");
  const stdin = params.get("stdin") === "new" ? "new" : integer(params, "stdin");
  const keeps = integer(params, "keeps");
  const linger = integer(params, "linger");
  const tcp = integer(params, "tcp");
  const pane = readPaneAddress(params.get("pane"));
  return {
    ok: true,
    query: {
      sandbox: params.get("sandbox") ?? "default",
      ...(session === undefined ? {} : { session }),
      process: {
        ...(cmd === undefined ? {} : { cmd }),
        args: isCommand ? params.getAll("arg") : [],
        env: params.getAll("env").map((pair): [string, string] => {
          const at = pair.indexOf("=");
          return [pair.slice(0, at), pair.slice(at + 1)];
        }),
        ...(cwd === undefined ? {} : { cwd }),
        tty,
        mode: (params.get("mode") ?? "collaborative") as Mode,
        delivery: delivery ?? (tty ? "live" : "lossless"),
        keep: integer(params, "keep") ?? DEFAULT_KEEP_SECONDS,
        ...(params.get("shell_integration") === "0" ? { shellIntegration: false } : {}),
        ...(linger === undefined ? {} : { linger }),
        ...(tcp === undefined ? {} : { tcp }),
        ...(hasPanes ? { panes: true } : {}),
        ...(pane === undefined ? {} : { pane }),
      },
      ...(cols === undefined && rows === undefined
        ? {}
        : { size: { cols: cols ?? DEFAULT_COLS, rows: rows ?? DEFAULT_ROWS } }),
      name: seenName(params.get("name") ?? ""),
      role: (params.get("role") ?? "driver") as Role,
      delivery,
      wake: params.get("wake") !== "0",
      ...(offset === undefined ? {} : { offset }),
      ...(stdin === undefined ? {} : { stdin }),
      ...(keeps === undefined ? {} : { keeps }),
      ...(resume === undefined ? {} : { resume }),
      ...attemptOf(params),
      ...(params.get("ended") === "replace" ? { ended: "replace" } : {}),
      ...(params.get("unnamed") === "1" ? { isUnnamed: true } : {}),
      ...(incarnation === undefined ? {} : { incarnation }),
    },
  };
}

function attemptOf(params: URLSearchParamsLike): { attempt?: Attempt } {
  const [, life, number] = ATTEMPT.exec(params.get("attempt") ?? "") ?? [];
  return life === undefined ? {} : { attempt: { life, number: Number(number) } };
}

/** The query's parameters, in order, for the builder of a URL. Defaults are left out. */
export function attachParams(
  query: Partial<Omit<AttachQuery, "process">> & { process?: Partial<ProcessWish> },
): [string, string][] {
  const params: [string, string][] = [];
  const add = (name: string, value: string | number | undefined) => {
    if (value !== undefined && value !== "") params.push([name, String(value)]);
  };
  add("sandbox", query.sandbox);
  add("session", query.session);
  const process = query.process;
  add("cmd", process?.cmd);
  for (const arg of process?.args ?? []) params.push(["arg", arg]);
  for (const [name, value] of process?.env ?? []) params.push(["env", `${name}=${value}`]);
  add("cwd", process?.cwd);
  if (process?.tty !== undefined) add("tty", process.tty ? 1 : 0);
  add("mode", process?.mode);
  add("delivery", query.delivery ?? process?.delivery);
  add("keep", process?.keep);
  if (process?.shellIntegration === false) add("shell_integration", 0);
  add("linger", process?.linger);
  add("tcp", process?.tcp);
  if (process?.panes === true) add("panes", 1);
  add("pane", process?.pane === undefined ? undefined : writePaneAddress(process.pane));
  add("cols", query.size?.cols);
  add("rows", query.size?.rows);
  add("name", query.name);
  add("role", query.role);
  if (query.wake === false) add("wake", 0);
  add("offset", query.offset);
  add("stdin", query.stdin);
  add("keeps", query.keeps);
  add("resume", query.resume);
  if (query.attempt !== undefined) add("attempt", `${query.attempt.life}.${query.attempt.number}`);
  add("ended", query.ended);
  if (query.isUnnamed === true) add("unnamed", 1);
  add("incarnation", query.incarnation);
  return params;
}

/** The members that are used of a URLSearchParams: this package knows no platform's types. */
export interface URLSearchParamsLike {
  get(name: string): string | null;
  getAll(name: string): string[];
}

function findProblem(params: URLSearchParamsLike): string | undefined {
  for (const name of ["sandbox", "session"]) {
    const value = params.get(name);
    if (value !== null && !isName(value)) {
      return `"${name}" must be 1 to 64 letters, digits, dots, dashes or underscores, and not start with a dot or dash`;
    }
  }
  for (const [name, ...allowed] of [
    ["tty", "0", "1"],
    ["role", "driver", "viewer"],
    ["mode", "collaborative", "exclusive"],
    ["delivery", "live", "lossless"],
    ["wake", "0", "1"],
    ["text", "0", "1"],
    ["shell_integration", "0", "1"],
    ["ended", "read", "replace"],
    ["unnamed", "0", "1"],
    ["panes", "0", "1"],
  ] as const) {
    const value = params.get(name);
    if (value !== null && !(allowed as readonly string[]).includes(value)) {
      return `"${name}" must be ${allowed.join(" or ")}`;
    }
  }
  for (const [name, min, max] of [
    ["cols", 1, MAX_COLS],
    ["rows", 1, MAX_ROWS],
    ["keep", 0, MAX_KEEP_SECONDS],
    ["linger", 0, MAX_LINGER_SECONDS],
    ["tcp", 1, 65_535],
    ["offset", 0, Number.MAX_SAFE_INTEGER],
    ["keeps", 0, Number.MAX_SAFE_INTEGER],
    // Room for the input after it: offsets stay safe integers.
    ["stdin", 0, 2 ** 52],
  ] as const) {
    const value = params.get(name);
    if (value === null || (name === "stdin" && value === "new")) continue;
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) return `"${name}" must be an integer from ${min} to ${max}`;
  }
  if (!ATTEMPT.test(params.get("attempt") ?? "a.0")) return '"attempt" must be LIFE.NUMBER';
  if (params.get("ended") === "replace" && params.get("attempt") === null) return '"ended=replace" needs "attempt"';
  if (params.get("tcp") !== null) {
    const other = ["cmd", "arg", "env", "cwd", "linger"].find((name) => params.get(name) !== null);
    if (other !== undefined) return `"tcp" connects to a port and starts nothing: leave out "${other}"`;
    if (params.get("tty") === "1") return '"tcp" has no terminal: leave out "tty"';
    if (params.get("role") === "viewer") return '"tcp" makes a connection, which a viewer may not';
  }
  return findPaneProblem(params) ?? findTextProblem(params);
}

function findTextProblem(params: URLSearchParamsLike): string | undefined {
  const name = params.get("name");
  if (name !== null && (utf8Length(name) > MAX_NAME_BYTES || hasControlCharacter(name))) {
    return `"name" must be at most ${MAX_NAME_BYTES} bytes with no control characters`;
  }
  const args = params.getAll("arg");
  const env = params.getAll("env");
  if (args.length > MAX_ARGS) return `"arg" may be given ${MAX_ARGS} times at most`;
  if (env.length > MAX_ENV) return `"env" may be given ${MAX_ENV} times at most`;
  if (params.get("cmd") === "") return '"cmd" must not be empty';
  for (const [label, values] of [
    ["cmd", params.getAll("cmd")],
    ["arg", args],
    ["env", env],
    ["cwd", params.getAll("cwd")],
    ["resume", params.getAll("resume")],
  ] as const) {
    for (const value of values) {
      if (value.includes("\0")) return `"${label}" must not have a NUL character`;
    }
  }
  const bytes = commandBytes(params);
  if (bytes > MAX_COMMAND_BYTES) {
    return `the command is too long: ${bytes} bytes in a URL with its arguments, environment and directory, at most ${MAX_COMMAND_BYTES}`;
  }
  if ((params.get("resume") ?? "").length > MAX_RESUME) return `"resume" must be at most ${MAX_RESUME} characters`;
  if (env.some((pair) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(pair))) return '"env" must be NAME=VALUE';
  if (args.length > 0 && params.get("cmd") === null) return '"arg" needs a "cmd"';
  return undefined;
}

function commandBytes(params: URLSearchParamsLike): number {
  let bytes = 0;
  for (const name of ["cmd", "arg", "env", "cwd"]) {
    for (const value of params.getAll(name)) bytes += `&${name}=`.length + encodedLength(value);
  }
  return bytes;
}

/** Length of a value in a query as URLSearchParams writes it: all but letters, digits and a few others take three a byte. */
function encodedLength(value: string): number {
  const others = value.replace(/[A-Za-z0-9*._ -]+/g, "");
  return value.length - others.length + 3 * utf8Length(others);
}

/** Checked before: a number, or absent. */
function integer(params: URLSearchParamsLike, name: string): number | undefined {
  const value = params.get(name);
  return value === null ? undefined : Number(value);
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return true;
  }
  return false;
}
