// Fields of the programs' requests and answers. The server's schemas (packages/api) and the types of program-types.ts derive from
// them. Offsets are bytes since the process began. Durations are milliseconds unless the name says seconds.

import { bodyFields, PROCESS_PARAMS, SIZE_PARAMS } from "../wire/attach-params.ts";
import { MAX_COLS, MAX_KEEP_SECONDS, MAX_ROWS } from "../wire/constants.ts";
import {
  any,
  choice,
  flag,
  integer,
  list,
  nullable,
  object,
  offset,
  only,
  openObject,
  optional,
  text,
  texts,
  union,
  usually,
} from "../wire/fields.ts";

export type { Field, Fields, Kind } from "../wire/fields.ts";

const time = text({ format: "time" });
const base64 = text({ format: "base64" });
const MAX_WAIT_MS = 600_000;
const MAX_TIMEOUT_MS = 3_600_000;
/** One year: longer than any output is kept. */
const MAX_AGO_MS = 31_536_000_000;

const waitMs = integer(0, MAX_WAIT_MS);
const maxBytes = integer(16, 1_048_576);
const incarnation = optional(text());
const writer = usually(text({ min: 1, max: 64 }), "api");
export const named = { incarnation };

// ---- Requests that start a process (P, U1) ------------------------------------------------------------------------------

/** The program to run: `cmd` with `args`, without a shell, or `command`. */
export const process = {
  incarnation: optional(text(), "only this process: no other is used or started"),
  ...bodyFields(PROCESS_PARAMS),
  ...bodyFields(SIZE_PARAMS),
  command: optional(text(), 'Given to bash: ["bash", "-lc", command]'),
  env: optional(texts),
  awaited: usually(flag, false, "output waits for the first client, but not once all have left"),
  keepExitedSeconds: usually(integer(0, MAX_KEEP_SECONDS), 600, "how long it is kept after its exit and the last call"),
  ended: optional(only("replace"), "if the process of this name has ended, start a new one; needs attempt"),
  attempt: optional(text({ min: 1, max: 256 })),
};

export const run = {
  ...process,
  session: optional(text(), "makes the call repeatable: the same request finds the same process"),
  stdin: optional(nullable(text()), "null leaves stdin open on pipes"),
  stdinBase64: optional(base64),
  waitMs: usually(waitMs, 10_000),
  maxBytes: usually(maxBytes, 65_536),
};

// ---- Requests to an existing session ------------------------------------------------------------------------------------

export const listing = { limit: usually(integer(1, 1_000), 100), after: optional(text()) };

export const read = {
  incarnation,
  from: optional(offset),
  tail: optional(offset),
  since: optional(text({ format: "zoned time" }), "output since this time"),
  agoMs: optional(integer(0, MAX_AGO_MS), "output of the last `agoMs` ms, by the server's clock"),
  to: optional(offset),
  maxBytes: usually(maxBytes, 65_536),
  waitMs: usually(waitMs, 0),
  stream: usually(choice("all", "stdout", "stderr"), "all"),
  format: usually(choice("text", "base64", "plain"), "text"),
  times: optional(integer(0, 1), "1: adds when the bytes arrived"),
};

/** One of `text`, `keys`, `paste` and `base64`; `enter` or `eof` with it, or alone. */
export const write = {
  incarnation,
  text: optional(text()),
  keys: optional(list(text({ min: 1 }))),
  paste: optional(text()),
  base64: optional(base64),
  enter: optional(flag),
  eof: optional(flag),
  writer,
  at: optional(offset, "start of this input in the writer's count; makes the call repeatable"),
  waitMs: usually(waitMs, 10_000),
};

const flags = optional(text());
type Until =
  | { exit: true }
  | { match: string; flags?: string | undefined }
  | { text: string }
  | { idleMs: number }
  | { commandEnd: true }
  | { screen: string; flags?: string | undefined }
  | { keyboard: true }
  | { ask: string };
/** Invalid patterns are refused with 400 `bad_pattern` where they are compiled (T4). */
export const until = union<Until>(
  "is one of exit, match, text, idleMs, commandEnd, screen, keyboard and ask, with its value",
  object({ exit: only(true) }),
  object({ match: text(), flags }),
  object({ text: text({ min: 1, max: 4_096 }) }),
  object({ idleMs: integer(1, MAX_TIMEOUT_MS) }),
  object({ commandEnd: only(true) }),
  object({ screen: text(), flags }),
  object({ keyboard: only(true) }),
  object({ ask: text({ min: 1, max: 128 }) }),
);

export const wait = {
  incarnation,
  until,
  from: optional(offset),
  timeoutMs: usually(integer(0, MAX_TIMEOUT_MS), 30_000),
  maxBytes: usually(maxBytes, 8_192),
};

export const screen = {
  incarnation,
  format: usually(choice("text", "ansi", "json"), "text"),
  scrollback: optional(integer(0, 1_000_000)),
};

export const signal = { incarnation, writer, signal: text({ pattern: /^SIG[A-Z0-9]+$/ }) };
export const resize = { incarnation, writer, cols: integer(1, MAX_COLS), rows: integer(1, MAX_ROWS) };
export const keyboard = {
  incarnation,
  writer,
  do: choice("request", "release", "take", "ask"),
  reason: optional(text({ min: 1, max: 200 }), "of ask: what a person is to do, in a line"),
  secret: optional(flag, "of ask: what the person types is a secret"),
};

// ---- Answers --------------------------------------------------------------------------------------------------------------

const whole = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
export const state = choice("running", "exited", "lost");
export const exit = object({ code: whole, signal: optional(text()) });
export const gap = object({ from: offset, to: offset });
const lossy = optional(only(true), "bytes that are not UTF-8 became U+FFFD: read with base64");

/** Fields that describe a range of a session's output. */
const outputRead = {
  incarnation: text(),
  state,
  exit: optional(exit),
  from: offset,
  /** Where to continue. */
  next: offset,
  /** Current end of the log. */
  end: offset,
  output: text(),
  lossy,
  gap: optional(gap),
};

export const runAnswer = {
  session: text(),
  ...outputRead,
  stdout: optional(text()),
  stderr: optional(text()),
  truncated: optional(object({ from: offset, to: offset, bytes: whole })),
};

const participant = object({
  id: text(),
  name: text(),
  role: choice("driver", "viewer"),
  kind: optional(choice("person", "guest", "program")),
  person: optional(text(), "whose window it is: the same of all windows of one person"),
});

export const description = {
  session: text(),
  incarnation: text(),
  state,
  tty: flag,
  cmd: text(),
  args: list(text()),
  createdAt: time,
  cols: optional(whole),
  rows: optional(whole),
  title: optional(text()),
  clients: whole,
  participants: optional(list(participant), "attached clients; absent if there are none"),
  offset,
  lastOutputAt: optional(time, "when its last output arrived"),
  inputOffset: offset,
  exit: optional(exit),
  recording: optional(object({ since: time, redacted: flag }), "its output is recorded"),
};

export const listAnswer = { sessions: list(object(description)), next: optional(text()) };

export const readAnswer = {
  ...outputRead,
  /** When the bytes from `offset` to the next entry arrived, in steps of a second (more in a long log). */
  times: optional(list(object({ offset, at: time }))),
};

export const writeAnswer = {
  writer: text(),
  from: offset,
  to: offset,
  /** The `from` to pass to a wait. */
  outputOffset: optional(offset),
  taken: optional(offset),
  duplicate: optional(only(true)),
};

export const waitAnswer = {
  outcome: choice("met", "timeout", "exited", "lost"),
  answer: optional(choice("done", "declined", "expired"), "of ask"),
  undecided: optional(only(true), "the search was abandoned: a match may be there"),
  offset,
  searchedTo: optional(offset, "for match and text: output before this offset was searched"),
  match: optional(object({ from: offset, to: offset, text: text(), groups: list(nullable(text())) })),
  exit: optional(exit),
  gap: optional(gap),
  output: text(),
  lossy,
};

export const screenAnswer = {
  offset,
  cols: whole,
  rows: whole,
  cursor: object({ x: whole, y: whole, visible: flag }),
  alternate: flag,
  title: text(),
  modes: openObject({ bracketedPaste: flag, applicationCursor: flag, mouse: any }),
  lines: list(text()),
  scrollback: optional(list(text())),
  approximate: optional(flag),
  truncated: optional(flag),
};

export const command = object({
  line: optional(text()),
  cwd: optional(text()),
  from: optional(offset),
  to: optional(offset),
  exit: optional(whole),
  startedAt: time,
  endedAt: optional(time),
});
export const commandsAnswer = { commands: list(command), next: offset };

export const keyboardAnswer = { holder: text(), mine: optional(flag), ask: optional(text(), "for wait") };
