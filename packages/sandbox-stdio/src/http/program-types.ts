// The fields of the programs' interface, as the server's schemas have them: a test holds both together.
// Offsets are bytes since the process began. Durations are milliseconds unless the name says seconds.

export type ExitInfo = { code: number; signal?: string };
export type GapInfo = { from: number; to: number };
export type State = "running" | "exited" | "lost";

/** The program to run: `cmd` with `args`, given to no shell, or `command`, one line for `bash -lc`. */
export type ProcessFields = {
  /** The one process of this name that is meant: no other is found or started. */
  incarnation?: string;
  cmd?: string;
  args?: string[];
  command?: string;
  cwd?: string;
  env?: Record<string, string>;
  /** Default: false, which is pipes. */
  tty?: boolean;
  cols?: number;
  rows?: number;
  mode?: "collaborative" | "exclusive";
  /** If no client is attached, `lossless` output waits. Default: `live`, which runs on. */
  delivery?: "live" | "lossless";
  /** Its output waits for the first client that attaches, also if it is `live`. Default: false. */
  awaited?: boolean;
  /** How long output is awaited after the exit, from children that hold the pipes. Default: 1. */
  lingerSeconds?: number;
  shellIntegration?: boolean;
  /** How long it runs on with no client attached, from the last call on. Default: 1800. */
  keepSeconds?: number;
  /** How long it is kept after its exit and the last call. Default: 600. */
  keepExitedSeconds?: number;
  /** If the process of this name has ended, start a new one; needs `attempt`. */
  ended?: "replace";
  attempt?: string;
};
export type CreateRequest = ProcessFields;

export type RunRequest = ProcessFields & {
  /** Makes the call repeatable: the same request finds the same process. */
  session?: string;
  /** null leaves stdin open on pipes. */
  stdin?: string | null;
  stdinBase64?: string;
  waitMs?: number;
  maxBytes?: number;
};

export type RunAnswer = {
  session: string;
  incarnation: string;
  state: State;
  exit?: ExitInfo;
  from: number;
  next: number;
  end: number;
  output: string;
  /** Bytes that are not UTF-8 became U+FFFD: `read` with the format `base64` has them. */
  lossy?: true;
  stdout?: string;
  stderr?: string;
  truncated?: { from: number; to: number; bytes: number };
  gap?: GapInfo;
};

export type Description = {
  session: string;
  incarnation: string;
  state: State;
  tty: boolean;
  cmd: string;
  args: string[];
  createdAt: string;
  cols?: number;
  rows?: number;
  title?: string;
  clients: number;
  /** The attached clients. Absent if there are none. */
  participants?: { id: string; name: string; role: "driver" | "viewer"; kind?: "person" | "guest" | "program" }[];
  offset: number;
  /** When its last output came. Absent where there was none. */
  lastOutputAt?: string;
  inputOffset: number;
  exit?: ExitInfo;
};

export type ListQuery = { limit?: number; after?: string };
export type ListAnswer = { sessions: Description[]; next?: string };

export type ReadQuery = {
  incarnation?: string;
  from?: number;
  tail?: number;
  /** Output that came at this time or later: ISO 8601. */
  since?: string;
  /** Output of the last so many ms, by the server's clock. */
  agoMs?: number;
  to?: number;
  maxBytes?: number;
  waitMs?: number;
  stream?: "all" | "stdout" | "stderr";
  format?: "text" | "base64" | "plain";
  /** 1: the answer says when the bytes came. */
  times?: number;
};
export type ReadAnswer = {
  incarnation: string;
  state: State;
  exit?: ExitInfo;
  from: number;
  /** Where to go on. */
  next: number;
  /** Where the log ends now. */
  end: number;
  output: string;
  /** Bytes that are not UTF-8 became U+FFFD: `read` with the format `base64` has them. */
  lossy?: true;
  gap?: GapInfo;
  /** When the bytes from `offset` on came, up to the next entry's. In steps: of a second, in a long log more. Absent where that is not known. */
  times?: { offset: number; at: string }[];
};

/** One of `text`, `keys`, `paste` and `base64`; `enter` or `eof` with it, or alone. */
export type WriteRequest = {
  incarnation?: string;
  text?: string;
  keys?: string[];
  paste?: string;
  base64?: string;
  enter?: boolean;
  eof?: boolean;
  writer?: string;
  /** Where this input begins in the writer's own count: makes the call repeatable. */
  at?: number;
  waitMs?: number;
};
export type WriteAnswer = {
  writer: string;
  from: number;
  to: number;
  /** The right `from` for a wait. */
  outputOffset?: number;
  taken?: number;
  duplicate?: true;
};

export type Until =
  | { exit: true }
  | { match: string; flags?: string }
  | { text: string }
  | { idleMs: number }
  | { commandEnd: true }
  | { screen: string; flags?: string }
  | { keyboard: true };
export type WaitRequest = {
  incarnation?: string;
  until: Until;
  from?: number;
  timeoutMs?: number;
  maxBytes?: number;
};
export type WaitAnswer = {
  outcome: "met" | "timeout" | "exited" | "lost";
  /** The search was given up before its end: what was waited for may be there. Wait again from `searchedTo`. */
  undecided?: true;
  offset: number;
  /** Of `match` and `text`: what stands before this offset was searched. */
  searchedTo?: number;
  match?: { from: number; to: number; text: string; groups: (string | null)[] };
  gap?: GapInfo;
  exit?: ExitInfo;
  output: string;
  /** Bytes that are not UTF-8 became U+FFFD: `read` with the format `base64` has them. */
  lossy?: true;
};

export type ScreenQuery = { incarnation?: string; format?: "text" | "ansi" | "json"; scrollback?: number };
export type ScreenAnswer = {
  [more: string]: unknown;
  offset: number;
  cols: number;
  rows: number;
  cursor: { x: number; y: number; visible: boolean };
  alternate: boolean;
  title: string;
  modes: { [more: string]: unknown; bracketedPaste: boolean; applicationCursor: boolean; mouse: unknown };
  lines: string[];
  scrollback?: string[];
  approximate?: boolean;
  truncated?: boolean;
};

export type Command = {
  line?: string;
  cwd?: string;
  from?: number;
  to?: number;
  exit?: number;
  startedAt: string;
  endedAt?: string;
};
export type CommandsAnswer = { commands: Command[]; next: number };

export type SignalRequest = { incarnation?: string; writer?: string; signal: string };
export type ResizeRequest = { incarnation?: string; writer?: string; cols: number; rows: number };
export type KeyboardRequest = { incarnation?: string; writer?: string; do: "request" | "release" | "take" };
export type KeyboardAnswer = { holder: string; mine: boolean };
