// One table of the parameters of a session and of an attaching client: name, type, range, default, where accepted, help text.
// From it derive the `/attach` query on both hops, bodies that start a process, the bridge's order and command-line options.

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
  /** Name in the `/attach` query, on both hops. Absent: the key. */
  readonly query?: string;
  /** Name in the body of a program's *create* or *run*; absent: not accepted there. */
  readonly body?: string;
  /** Default in a body. */
  readonly bodyUsual?: unknown;
  /** Placeholder for the value of the command-line option, which is named after the key (`body` for the verb `run`). */
  readonly option?: string;
  /** Set if only this verb has the option. */
  readonly on?: "attach" | "run";
  /** The value counts when two processes are compared (P2), unless it equals this one. */
  readonly sameUnless?: unknown;
};
type Table = Readonly<Record<string, Param>>;
type Row = Param & { readonly key: string; readonly query: string };

const CHARACTERS = "1 to 64 letters, digits, dots, dashes or underscores, and not start with a dot or dash";
/** 1 to 64 letters, digits, dots, dashes or underscores; the first is a letter, digit or underscore. */
const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;
const NAME = text({ pattern: NAME_PATTERN, form: CHARACTERS });

/** Parameters of the process. The creator's values apply; a later client may omit them. */
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
    field: usually(integer(0, MAX_KEEP_SECONDS), DEFAULT_KEEP_SECONDS, "how long it lives with no client attached"),
  },
  /** Whether a shell marks its commands. Absent: yes. */
  shellIntegration: { query: "shell_integration", body: "shellIntegration", field: optional(flag) },
  linger: {
    body: "lingerSeconds",
    option: "seconds",
    field: optional(integer(0, MAX_LINGER_SECONDS), "how long output of children is awaited after the exit"),
  },
  logBytes: {
    body: "logBytes",
    option: "bytes",
    sameUnless: LOG_BYTES,
    field: optional(integer(MIN_LOG_BYTES, MAX_LOG_BYTES), "how much of the newest output is kept"),
  },
  /** Records the output if the server allows a start to ask for it (G1). */
  record: { body: "record", option: "flag", field: optional(flag, "records the output, if the server allows it") },
  /** Instead of a command: connects to this TCP port on the sandbox's loopback (A13). */
  tcp: { field: optional(integer(1, 65_535)) },
  /** The process runs under tmux: clients see its panes and can attach to them (B1). */
  panes: { field: optional(flag) },
} as const satisfies Table;

/** The terminal's size. */
export const SIZE_PARAMS = {
  cols: { body: "cols", option: "n", on: "run", field: optional(integer(1, MAX_COLS), "columns of the PTY") },
  rows: { body: "rows", option: "n", on: "run", field: optional(integer(1, MAX_ROWS), "rows of the PTY") },
} as const satisfies Table;

/** Parameters of the client, and where it resumes. */
export const CLIENT_PARAMS = {
  sandbox: { field: usually(NAME, "default") },
  /** Absent: a new name. */
  session: { field: optional(NAME) },
  name: { option: "text", on: "attach", field: usually(text(), "", "your name as others see it") },
  role: { option: "role", on: "attach", field: usually(choice("driver", "viewer"), "driver", "a viewer only reads") },
  wake: { field: usually(flag, true) },
  offset: { field: optional(offset) },
  /** A resuming client has received the output from here to `offset` but not processed it (R1). Absent: all is processed. */
  acked: { field: optional(offset) },
  /** `latest`: among this person's windows with `latest`, only the last one used counts for the terminal's size (K4a). */
  fit: { field: optional(choice("smallest", "latest")) },
  /** A resuming client's kept input starts here; `new`: the client has kept no input. */
  // The limit leaves room for more input, so that offsets stay safe integers.
  stdin: {
    field: optional(union<number | "new">(`an integer from 0 to ${2 ** 52} or new`, integer(0, 2 ** 52), only("new"))),
  },
  /** How much unacknowledged input this client can keep (I3b). */
  keeps: { field: optional(offset) },
  /** Resume proof. Ours are shorter: the Worker rejects a subject that would make a longer one. */
  resume: { field: optional(text({ max: 1024, form: "at most 1024 characters" })) },
  /** If the process of this name has ended: `replace` starts a new one, `read` (the default) replays its log and exit. */
  ended: { field: optional(choice("read", "replace")) },
  /** The client made the name up, so no other client will look for the session (L7a). */
  isUnnamed: { query: "unnamed", field: optional(flag) },
  /** Attaches to this process only: never to another one, and never starts one (A2b). */
  incarnation: { field: optional(text()) },
} as const satisfies Table;

/** Parameters that are objects once read, or are read elsewhere. */
export const TEXT_PARAMS = {
  attempt: { field: optional(text({ pattern: ATTEMPT, form: "LIFE.NUMBER" })) },
  pane: { field: optional(text({ pattern: PANE, form: "SESSION:NUMBER" })) },
  text: { field: optional(flag) },
} as const satisfies Table;

export const ALL_PARAMS = [PROCESS_PARAMS, SIZE_PARAMS, CLIENT_PARAMS, TEXT_PARAMS].flatMap(rowsOf);

/** The rows of a table, each with its key and its name in a query. */
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

/** Process parameters under their names in a body. Omits parameters that bodies do not accept. */
export function toBody(wish: { readonly [K in keyof ProcessParams]?: ProcessParams[K] | undefined }) {
  return given<Asked<BodyFields<typeof PROCESS_PARAMS>>>(wish, ({ key, body }) => [body, key]);
}

/** Process parameters from a body, under the table's keys. */
export function fromBody(body: Readonly<Asked<BodyFields<typeof PROCESS_PARAMS>>>) {
  return given<Partial<ProcessParams>>(body, ({ key, body: name }) => [key, name]);
}

type ProcessParams = Given<ParamFields<typeof PROCESS_PARAMS>>;

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
/** Values of the command-line options of the verbs that attach. */
export type AttachOptions = Optioned<typeof CLIENT_PARAMS> & Optioned<typeof PROCESS_PARAMS>;
