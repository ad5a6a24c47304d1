// Reads, checks and writes the query of `/attach`. The Worker and the bridge share the reader, and all clients the writer.

import { utf8Length } from "../text/utf8-text.ts";
import {
  ALL_PARAMS,
  CLIENT_PARAMS,
  type Param,
  type ParamFields,
  PROCESS_PARAMS,
  rowsOf,
  SIZE_PARAMS,
  TEXT_PARAMS,
} from "./attach-params.ts";
import { ATTEMPT, type Attempt } from "./attempt.ts";
import { DEFAULT_COLS, DEFAULT_ROWS, MAX_COMMAND_BYTES, MAX_NAME_BYTES } from "./constants.ts";
import { defined, type Field, type Given, readText } from "./fields.ts";
import {
  findPaneProblem,
  isControlMode,
  type PaneAddress,
  readPaneAddress,
  STARTING,
  wantsPanes,
  writePaneAddress,
} from "./pane-address.ts";
import type { Delivery } from "./terms.ts";

export { isName } from "./attach-params.ts";

/** The process as a query describes it. The creator's values apply; a later client may omit them. */
export type ProcessWish = Readonly<Given<ParamFields<typeof PROCESS_PARAMS>>> & {
  readonly tty: boolean;
  readonly delivery: Delivery;
  readonly env: readonly (readonly [string, string])[];
  /** Instead of a command: a pane of another session in the same sandbox (B2). */
  readonly pane?: PaneAddress;
};

/** The command that the session runs; undefined if the query leaves it open. */
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

export type AttachQuery = Readonly<Given<ParamFields<typeof CLIENT_PARAMS>>> & {
  readonly process: ProcessWish;
  readonly size?: { readonly cols: number; readonly rows: number };
  /** Delivery that this client asks for, if any. {@link ProcessWish.delivery} is the default for a new session. */
  readonly delivery: Delivery | undefined;
  readonly attempt?: Attempt;
};

/** Where an attaching client resumes, and the size of its terminal. The session gets these fields unchanged. */
export function placeOf({
  size,
  offset,
  stdin,
  keeps,
  acked,
  attempt,
}: AttachQuery): Pick<AttachQuery, "size" | "offset" | "acked" | "stdin" | "keeps" | "attempt"> {
  return defined({ size, offset, acked, stdin, keeps, attempt });
}

/** Characters that are invisible in a name or move the cursor. */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{Zl}\p{Zp}]/gu;

export type AttachQueryResult =
  | { readonly ok: true; readonly query: AttachQuery }
  /** `detail` names the parameter, its fault, and a correct value. */
  | { readonly ok: false; readonly detail: string };

/** Parameters that count towards {@link MAX_COMMAND_BYTES}. */
const COMMAND = ["cmd", "arg", "env", "cwd"];
const MAX_ARGS = 1024;
const MAX_ENV = 256;
/** Removes invisible characters: with them a client could pass for another participant or reverse a line of text. */
export function seenName(name: string): string {
  return name.replace(UNSEEN, "").trim();
}

/** Reads a query. Ignores unknown parameters and credentials. */
export function parseAttachQuery(params: URLSearchParamsLike): AttachQueryResult {
  const problem = findProblem(params);
  if (problem !== undefined) return { ok: false, detail: problem };
  const hasPanes = wantsPanes(params);
  const { panes: _, ...asked } = read(PROCESS_PARAMS, params);
  // The bridge itself speaks control mode, so `tmux -CC` is not run as a command.
  const { cmd, args, ...process } = isControlMode(params) ? { ...asked, cmd: undefined, args: [] } : asked;
  const { tty = (cmd === undefined && asked.tcp === undefined) || hasPanes, delivery } = asked;
  const { cols, rows } = read(SIZE_PARAMS, params);
  const client = read(CLIENT_PARAMS, params);
  return {
    ok: true,
    query: {
      ...client,
      ...defined({ size: sizeOf(cols, rows) }),
      process: {
        ...process,
        ...defined({ cmd, panes: hasPanes || undefined, pane: readPaneAddress(params.get("pane")) }),
        args,
        env: params.getAll("env").map((pair): [string, string] => {
          const at = pair.indexOf("=");
          return [pair.slice(0, at), pair.slice(at + 1)];
        }),
        tty,
        delivery: delivery ?? (tty ? "live" : "lossless"),
      },
      name: seenName(client.name),
      delivery,
      ...defined({ attempt: readAttempt(params.get("attempt")) }),
    },
  };
}

/** A terminal's size. A missing side gets its default; undefined if both are missing. */
export function sizeOf(cols?: number, rows?: number): { readonly cols: number; readonly rows: number } | undefined {
  if (cols === undefined && rows === undefined) return undefined;
  return { cols: cols ?? DEFAULT_COLS, rows: rows ?? DEFAULT_ROWS };
}

type Table = Readonly<Record<string, Param>>;

/** Reads a table's parameters from a query that has been checked, and fills in defaults. */
function read<T extends Table>(table: T, params: URLSearchParamsLike): Given<ParamFields<T>> {
  const entries = rowsOf(table).map(({ key, query, field }) => {
    if (field.kind === "list") return [key, params.getAll(query)];
    const given = params.get(query);
    return [key, (isPresent(field, given) ? readText(field, given) : undefined) ?? field.usual];
  });
  return defined(Object.fromEntries(entries)) as Given<ParamFields<T>>;
}

/** An empty text counts as absent: forms and scripts send empty fields. */
function isPresent(field: Field, given: string | null): given is string {
  return given !== null && !(given === "" && field.kind === "text" && field.pattern === undefined);
}

function readAttempt(given: string | null): Attempt | undefined {
  const [, life, number] = ATTEMPT.exec(given ?? "") ?? [];
  return life === undefined ? undefined : { life, number: Number(number) };
}

type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The query's parameters, in order. Omits defaults. */
export function attachParams({
  process = {},
  size = {},
  delivery = process.delivery,
  attempt,
  ...client
}: Loose<Omit<AttachQuery, "process" | "size">> & {
  readonly process?: Loose<ProcessWish>;
  readonly size?: Loose<{ cols: number; rows: number }> | undefined;
}): [string, string][] {
  const { env = [], pane } = process;
  return [
    ...write(CLIENT_PARAMS, client),
    ...write(PROCESS_PARAMS, { ...process, delivery }),
    ...write(SIZE_PARAMS, size),
    ...env.map(([name, value]): [string, string] => ["env", `${name}=${value}`]),
    ...write(TEXT_PARAMS, {
      pane: pane && writePaneAddress(pane),
      attempt: attempt && `${attempt.life}.${attempt.number}`,
    }),
  ];
}

function write(table: Table, given: Readonly<Record<string, unknown>>): [string, string][] {
  return rowsOf(table).flatMap(({ key, query, field }) => {
    const value = given[key];
    if (Array.isArray(value)) return value.map((one): [string, string] => [query, String(one)]);
    const isUsual = value === undefined || value === "" || (field.kind === "flag" && value === field.usual);
    return isUsual ? [] : [[query, String(typeof value === "boolean" ? Number(value) : value)]];
  });
}

/** The methods of URLSearchParams that are used here; this package imports no platform types. */
export interface URLSearchParamsLike {
  get(name: string): string | null;
  getAll(name: string): string[];
}

function findProblem(params: URLSearchParamsLike): string | undefined {
  for (const { query, field } of ALL_PARAMS) {
    const given = params.get(query);
    if (field.kind === "list" || !isPresent(field, given)) continue;
    if (readText(field, given) === undefined) return `"${query}" must be ${field.form}`;
  }
  if (params.get("ended") === "replace" && params.get("attempt") === null) return '"ended=replace" needs "attempt"';
  if (params.get("tcp") !== null) {
    const other = STARTING.find((name) => params.get(name) !== null);
    if (other !== undefined) return `"tcp" connects to a port and starts nothing: leave out "${other}"`;
    if (params.get("tty") === "1") return '"tcp" has no terminal: leave out "tty"';
    if (params.get("role") === "viewer") return '"tcp" opens a connection, which a viewer may not';
  }
  return findPaneProblem(params) ?? findTextProblem(params);
}

function findTextProblem(params: URLSearchParamsLike): string | undefined {
  const name = params.get("name");
  if (name !== null && (utf8Length(name) > MAX_NAME_BYTES || /\p{Cc}/u.test(name))) {
    return `"name" must be at most ${MAX_NAME_BYTES} bytes with no control characters`;
  }
  const args = params.getAll("arg");
  const env = params.getAll("env");
  if (args.length > MAX_ARGS) return `"arg" may be given at most ${MAX_ARGS} times`;
  if (env.length > MAX_ENV) return `"env" may be given at most ${MAX_ENV} times`;
  if (params.get("cmd") === "") return '"cmd" must not be empty';
  for (const name of [...COMMAND, "resume"]) {
    if (params.getAll(name).some((value) => value.includes("\0"))) return `"${name}" must not have a NUL character`;
  }
  const bytes = commandBytes(params);
  if (bytes > MAX_COMMAND_BYTES) {
    return `the command is too long: ${bytes} bytes in a URL with its arguments, environment and directory, at most ${MAX_COMMAND_BYTES}`;
  }
  if (env.some((pair) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(pair))) return '"env" must be NAME=VALUE';
  if (args.length > 0 && params.get("cmd") === null) return '"arg" needs a "cmd"';
  return undefined;
}

function commandBytes(params: URLSearchParamsLike): number {
  let bytes = 0;
  for (const name of COMMAND) {
    for (const value of params.getAll(name)) bytes += `&${name}=`.length + encodedLength(value);
  }
  return bytes;
}

/** Length of a value as URLSearchParams encodes it: all bytes but letters, digits, space and `*-._` become three characters. */
function encodedLength(value: string): number {
  const others = value.replace(/[A-Za-z0-9*._ -]+/g, "");
  return value.length - others.length + 3 * utf8Length(others);
}
