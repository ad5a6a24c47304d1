// The one table of what may be said of a session and of a client when it attaches: name, type, range, default, who may say it,
// and a line about it. The query of `/attach` on both hops, the bodies that start a process, the bridge's order, the options of
// the command line, and the types of all of them are made of it.

import { ATTEMPT } from "./attempt.ts";
import {
  DEFAULT_KEEP_SECONDS,
  LOG_BYTES,
  MAX_COLS,
  MAX_KEEP_SECONDS,
  MAX_LINGER_SECONDS,
  MAX_LOG_BYTES,
  MAX_ROWS,
  MIN_LOG_BYTES,
} from "./constants.ts";
import {
  type Asked,
  choice,
  defined,
  type Field,
  flag,
  type Given,
  integer,
  list,
  offset,
  only,
  optional,
  text,
  union,
  usually,
  type ValueOf,
} from "./fields.ts";
import { PANE } from "./pane-address.ts";

/** A parameter, under its name in {@link ProcessWish} or {@link AttachQuery}. */
export type Param = {
  readonly field: Field;
  /** Name in the query of `/attach`, from a client and from the session object to the bridge; absent: the key. */
  readonly query?: string;
  /** Name in the body of a program's *create* or *run*; absent: not accepted there. */
  readonly body?: string;
  /** Default in a body. */
  readonly bodyUsual?: unknown;
  /** What its option of the command line takes, which has its name, and of the verb `run` its name in a body. */
  readonly option?: string;
  /** The only one of the two that has it. */
  readonly on?: "attach" | "run";
  /** Part of what makes two processes the same (P2), unless it has this value. */
  readonly sameUnless?: unknown;
};
type Table = Readonly<Record<string, Param>>;
type Row = Param & { readonly key: string; readonly query: string };

const CHARACTERS = "1 to 64 letters, digits, dots, dashes or underscores, and not start with a dot or dash";
/** Letters, digits, dot, dash and underscore, from 1 to 64, starting with a letter, digit or underscore. */
const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;
const NAME = text({ pattern: NAME_PATTERN, form: CHARACTERS });

/** The process: its creator's words count, a later client may omit them. */
export const PROCESS_PARAMS = {
  /** Absent: `bash`. */
  cmd: { body: "cmd", field: optional(text()) },
  args: { query: "arg", body: "args", field: usually<readonly string[]>(list(text())) },
  cwd: { body: "cwd", field: optional(text()) },
  tty: { body: "tty", bodyUsual: false, field: optional(flag) },
  mode: {
    body: "mode",
    option: "mode",
    field: usually(choice("collaborative", "exclusive"), "collaborative", "who may type"),
  },
  delivery: {
    body: "delivery",
    bodyUsual: "live",
    option: "kind",
    on: "attach",
    field: optional(choice("live", "lossless"), "lossless: output waits for the next client"),
  },
  keep: {
    body: "keepSeconds",
    bodyUsual: DEFAULT_KEEP_SECONDS,
    option: "seconds",
    field: usually(integer(0, MAX_KEEP_SECONDS), DEFAULT_KEEP_SECONDS, "how long it lives with nobody attached"),
  },
  /** Whether a shell is to mark its commands. Absent: it is. */
  shellIntegration: { query: "shell_integration", body: "shellIntegration", field: optional(flag) },
  linger: {
    body: "lingerSeconds",
    option: "seconds",
    field: optional(integer(0, MAX_LINGER_SECONDS), "how long children's output is awaited after the exit"),
  },
  logBytes: {
    body: "logBytes",
    option: "bytes",
    sameUnless: LOG_BYTES,
    field: optional(integer(MIN_LOG_BYTES, MAX_LOG_BYTES), "how much of the newest output is held"),
  },
  /** No command: a connection to this TCP port of the sandbox's loopback takes the process's place (A13). */
  tcp: { field: optional(integer(1, 65_535)) },
  /** The process runs under tmux: clients see its panes and can attach to them (B1). */
  panes: { field: optional(flag) },
} as const satisfies Table;

/** The terminal's size. */
export const SIZE_PARAMS = {
  cols: { body: "cols", option: "n", on: "run", field: optional(integer(1, MAX_COLS), "columns of the PTY") },
  rows: { body: "rows", option: "n", on: "run", field: optional(integer(1, MAX_ROWS), "rows of the PTY") },
} as const satisfies Table;

/** The client and its place. */
export const CLIENT_PARAMS = {
  sandbox: { field: usually(NAME, "default") },
  /** Absent: a fresh one. */
  session: { field: optional(NAME) },
  name: { option: "text", on: "attach", field: usually(text(), "", "what others see you as") },
  role: { option: "role", on: "attach", field: usually(choice("driver", "viewer"), "driver", "a viewer only reads") },
  wake: { field: usually(flag, true) },
  offset: { field: optional(offset) },
  /** Output from there to `offset` has come to a client that resumes, and is not dealt with (R1). Absent: all of it is. */
  acked: { field: optional(offset) },
  /** `latest`: of this person's windows that say so only the one that was used last counts for the terminal's size (K4a). */
  fit: { field: optional(choice("smallest", "latest")) },
  /** Where a client that resumes goes on with its own input: its kept input starts there, or `new`: it has kept none. */
  // Room for the input after it: offsets stay safe integers.
  stdin: {
    field: optional(union<number | "new">(`an integer from 0 to ${2 ** 52} or new`, integer(0, 2 ** 52), only("new"))),
  },
  /** How much unacknowledged input this client can keep, if it says so (I3b). */
  keeps: { field: optional(offset) },
  /** A proof. Ours are shorter: the Worker takes no subject that would make one longer. */
  resume: { field: optional(text({ max: 1024, form: "at most 1024 characters" })) },
  /** If the process of this name has ended, `replace` starts a new one. Absent, or `read`: the kept log and exit are read. */
  ended: { field: optional(choice("read", "replace")) },
  /** The name is of the client's own making: no other client will look for the session (L7a). */
  isUnnamed: { query: "unnamed", field: optional(flag) },
  /** The one process that is meant: another one is not attached to, and none is started (A2b). */
  incarnation: { field: optional(text()) },
} as const satisfies Table;

/** Those that are an object in the query that was read, or are read elsewhere. */
export const TEXT_PARAMS = {
  attempt: { field: optional(text({ pattern: ATTEMPT, form: "LIFE.NUMBER" })) },
  pane: { field: optional(text({ pattern: PANE, form: "SESSION:NUMBER" })) },
  text: { field: optional(flag) },
} as const satisfies Table;

export const ALL_PARAMS = [PROCESS_PARAMS, SIZE_PARAMS, CLIENT_PARAMS, TEXT_PARAMS].flatMap(rowsOf);

/** The rows of a table, each with its name, and its name in a query. */
export function rowsOf(table: Table): Row[] {
  return Object.entries(table).map(([key, param]) => ({ ...param, key, query: param.query ?? key }));
}

export type ParamFields<Table> = { [K in keyof Table]: Table[K] extends { readonly field: infer F } ? F : never };

/** Whether a sandbox or a session may have this name. */
export function isName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

// ---- In bodies --------------------------------------------------------------------------------------------------------

type Typed<F, Row> =
  F extends Field<infer T>
    ? Row extends { readonly bodyUsual: unknown }
      ? Field<T, "usual">
      : Field<T, "optional">
    : never;
/** The fields of a body that starts a process. */
export type BodyFields<Table> = {
  [K in keyof Table as Table[K] extends { readonly body: infer N extends string } ? N : never]: Table[K] extends {
    readonly field: infer F;
  }
    ? Typed<F, Table[K]>
    : never;
};

export function bodyFields<T extends Table>(table: T): BodyFields<T> {
  const fields = rowsOf(table).flatMap(({ body, bodyUsual: usual, field: { usual: _, ...field } }) => {
    const presence = usual === undefined ? { presence: "optional" } : { presence: "usual", usual };
    return body === undefined ? [] : [[body, { ...field, ...presence }]];
  });
  return Object.fromEntries(fields) as BodyFields<T>;
}

/** Process parameters under their names in a body. Parameters that bodies don't take are left out. */
export function toBody(wish: { readonly [K in keyof Wished]?: Wished[K] | undefined }) {
  return given<Asked<BodyFields<typeof PROCESS_PARAMS>>>(wish, ({ key, body }) => [body, key]);
}

/** Process parameters from a body, under the table's keys. */
export function fromBody(body: Readonly<Asked<BodyFields<typeof PROCESS_PARAMS>>>) {
  return given<Partial<Wished>>(body, ({ key, body: name }) => [key, name]);
}

type Wished = Given<ParamFields<typeof PROCESS_PARAMS>>;

function given<T>(words: object, names: (row: Row) => readonly (string | undefined)[]): T {
  const rows = rowsOf(PROCESS_PARAMS).filter(({ body }) => body);
  const entries = rows.map(names).map(([to, from]) => [to, (words as Record<string, unknown>)[from ?? ""]]);
  return defined(Object.fromEntries(entries)) as T;
}

// ---- On the command line ----------------------------------------------------------------------------------------------------

type Attached<Row> = Row extends { readonly option: string }
  ? Row extends { readonly on: "run" }
    ? never
    : Row extends { readonly field: infer F }
      ? ValueOf<F>
      : never
  : never;
type Optioned<T> = {
  readonly [K in keyof T as [Attached<T[K]>] extends [never] ? never : K]?: Attached<T[K]> | undefined;
};
/** The values of the options of what attaches. */
export type AttachOptions = Optioned<typeof CLIENT_PARAMS> & Optioned<typeof PROCESS_PARAMS>;
