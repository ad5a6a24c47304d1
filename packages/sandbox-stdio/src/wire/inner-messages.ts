// The messages of the inner hop, Durable Object to bridge. Messages of and for clients carry the client's id.

import type { Attention } from "./attention.ts";
import {
  MAX_COLS,
  MAX_CONTROL_IN_BYTES,
  MAX_KEPT_INPUT_BYTES,
  MAX_LOG_BYTES,
  MAX_ROWS,
  MAX_TITLE_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  MIB,
  MIN_LOG_BYTES,
  SIGNALS,
  type SignalName,
} from "./constants.ts";
import { type ControlResult, isKind, type ParticipantKind, parse } from "./control.ts";
import { PANES_SHAPE, type PanesMessage } from "./pane-messages.ts";
import {
  isArrayOf,
  isBoolean,
  isInteger,
  isMatch,
  isNumber,
  isObject,
  isOffset,
  isOneOf,
  isString,
  isTime,
  type Shape,
} from "./schema.ts";
import type { Delivery, Mode, Role } from "./terms.ts";
import { MAX_WRITE_BYTES, type WriteCommand, type Written } from "./write-messages.ts";

/** One week. */
export const MAX_PARK_SECONDS = 604_800;

/** Most text of one message on the inner hop: a greeting lists every client that may return. */
export const MAX_INNER_TEXT_BYTES = MIB;

/** Durable Object to bridge. */
export type InnerCommand =
  | {
      readonly type: "attach";
      readonly client: string;
      /** Identifies the client in stdin frames on this connection. */
      readonly slot: number;
      readonly name: string;
      readonly role: Role;
      readonly kind?: ParticipantKind;
      readonly admin: boolean;
      readonly delivery: Delivery;
      readonly acknowledges: boolean;
      readonly alone?: boolean;
      readonly person?: string;
      /** L11b. Ignored by an older bridge. */
      readonly login?: string;
      readonly personName?: string;
      readonly acked: number;
      readonly window: number;
      readonly cols?: number;
      readonly rows?: number;
    }
  | { readonly type: "detach"; readonly client: string; readonly how: "left" | "vanished" }
  | { readonly type: "ack"; readonly client: string; readonly offset: number; readonly window: number }
  | { readonly type: "eof"; readonly client: string; readonly offset: number }
  | { readonly type: "signal"; readonly client: string; readonly signal: SignalName }
  | { readonly type: "resize"; readonly client: string; readonly cols: number; readonly rows: number }
  | { readonly type: "kill"; readonly client: string }
  /** A client's pane command: its own message, as JSON. */
  | { readonly type: "pane"; readonly client: string; readonly order: string }
  /** `alone`: no other client may type while it holds the keyboard (K12). Ignored by an older bridge. */
  | { readonly type: "stdin_holder"; readonly id: string; readonly alone?: boolean }
  /** Who answers terminal queries from `offset` on. Empty: the bridge. */
  | { readonly type: "answerer"; readonly id: string; readonly offset: number }
  /** Requests a snapshot of the screen. */
  | { readonly type: "snapshot" }
  /** A program's write: all or nothing. Answered by `written` or `unwritten`. */
  | ({ readonly type: "write" } & WriteCommand)
  /** A question about the process. Answered in pieces and a final `answer`. */
  | ({ readonly type: "ask"; readonly id: number } & Question)
  /** The object parks with all output before `offset`; its clients stay attached for `seconds`. The bridge calls `bell`
   * when the process ends, or on more output after `after` seconds. */
  | {
      readonly type: "park";
      readonly offset: number;
      readonly seconds: number;
      readonly after: number;
      readonly bell: string;
    }
  | { readonly type: "ping" };

/** A program's question about a process. The answer is UTF-8 JSON. */
export type Question =
  /** The screen as {@link ScreenState}, with at most `scrollback` lines above it. */
  | { readonly about: "screen"; readonly scrollback: number; readonly runs: boolean; readonly ansi: boolean }
  /** The last commands, if the shell marks them. */
  | { readonly about: "commands" }
  /** At most `most` chunks after number `after`, of the output before offset `to`. */
  | { readonly about: "chunks"; readonly after: number; readonly to: number; readonly most: number };

/** A client as the bridge knows it. */
export type KnownClient = {
  readonly id: string;
  readonly role: Role;
  readonly stdin: number;
  readonly eof?: number;
  readonly acked: number;
  /** The grace period has passed; only the position in its input is kept. */
  readonly isAbsent: boolean;
  /** End of the input that has reached the bridge, taken or not. Absent from an older bridge: nothing waits. */
  readonly received?: number;
  /** The next fields are absent from an older bridge: an unnamed, live person that acknowledges. */
  readonly kind?: ParticipantKind;
  readonly name?: string;
  readonly delivery?: Delivery;
  readonly acknowledges?: boolean;
  /** Absent for guests and programs, and from an older bridge. */
  readonly login?: string;
  readonly personName?: string;
};

/** Bridge to Durable Object. Output comes in binary frames, as on the outer hop. */
export type InnerMessage =
  | {
      readonly type: "hello";
      readonly protocol: string;
      readonly incarnation: string;
      readonly tty: boolean;
      readonly mode: Mode;
      readonly delivery: Delivery;
      readonly cols: number;
      readonly rows: number;
      readonly offset: number;
      readonly live: number;
      readonly holder: string;
      readonly creator: string;
      readonly cmd: readonly string[];
      readonly createdAt: string;
      /** Most input of one client that may wait at the bridge (I3b). Absent from an older bridge. */
      readonly inputWindow?: number;
      /** Size of the bridge's log. Absent: the default. */
      readonly logBytes?: number;
      /** Whether an `exit` follows. Absent from an older bridge. */
      readonly hasExited?: boolean;
      readonly clients: readonly KnownClient[];
      /** Ids of clients that can't be resumed. Absent from an older bridge. */
      readonly gone?: readonly string[];
      /** Whether the shell has marked any commands. Absent from an older bridge. */
      readonly marked?: boolean;
      /** The terminal's title. Absent if the program set none. */
      readonly title?: string;
      /** Date.now() of the last output. Absent if there was none, and from an older bridge. */
      readonly lastOutputMs?: number;
      /** Whether the bridge can wake a parked object. Absent: no. */
      readonly calls?: boolean;
    }
  /** The clients of the parking object stay attached. */
  | { readonly type: "parked" }
  | { readonly type: "resize"; readonly cols: number; readonly rows: number; readonly offset: number }
  | { readonly type: "gap"; readonly from: number; readonly to: number }
  | { readonly type: "exit"; readonly code: number; readonly signal?: string; readonly offset: number }
  | { readonly type: "output_end"; readonly offset: number }
  | { readonly type: "stdin_ack"; readonly client: string; readonly offset: number }
  | { readonly type: "error"; readonly client: string; readonly code: string; readonly message: string }
  | { readonly type: "bye"; readonly code: number; readonly reason: string; readonly client?: string }
  /** Describes the binary snapshot frame that follows. */
  | {
      readonly type: "snapshot";
      readonly offset: number;
      readonly cols: number;
      readonly rows: number;
      readonly exact: boolean;
    }
  /** The bridge answers the terminal queries that end before `offset`. Sent before their last bytes. */
  | { readonly type: "answered"; readonly offset: number }
  /** `duplicate`: nothing was typed, and `to` is the writer's count. `last`: end of the writer's last write, if this was it. */
  | ({
      readonly type: "written";
      readonly client: string;
      readonly duplicate?: boolean;
      readonly last?: number;
    } & Written)
  | {
      readonly type: "unwritten";
      readonly client: string;
      readonly code: string;
      readonly message?: string;
      readonly expected?: number;
      readonly holder?: string;
    }
  /** All pieces of the answer have been sent; `ok: false`: there is no answer. */
  | { readonly type: "answer"; readonly id: number; readonly ok: boolean }
  /** A shell's command has ended; `to` is the start of its mark D. */
  | { readonly type: "command_end"; readonly to: number; readonly exit?: number }
  | PanesMessage
  | ({ readonly type: "attention" } & Attention)
  /** The bridge is stopping: it starts no more processes, and kills those that still run after `seconds`. */
  | { readonly type: "stopping"; readonly seconds: number }
  /** From now on the bridge can wake a parked object (`calls` in `hello`). */
  | { readonly type: "calls" }
  /** The program has changed its terminal's title. */
  | { readonly type: "title"; readonly title: string }
  /** Whether the terminal echoes typed text (K14). Sent after each greeting on a PTY, and on every change. */
  | { readonly type: "echo"; readonly on: boolean; readonly offset: number }
  /** No snapshot can be made this time. */
  | { readonly type: "no_snapshot" }
  | { readonly type: "pong" };

const isId = isString(128);
/** The signal that ended a process: a name of signal(7) or a real-time signal. */
const isExitSignal = isMatch(/^SIG[A-Z0-9]{1,16}(\+\d{1,2})?$/);
export const EXIT_STATUS = { code: isInteger(0, 255), "signal?": isExitSignal } as const;

const COMMAND_SHAPES: Readonly<Record<InnerCommand["type"], Shape>> = {
  attach: {
    client: isId,
    slot: isInteger(0, 0xffff_ffff),
    name: isString(256),
    role: isOneOf("driver", "viewer"),
    "kind?": isKind,
    admin: isBoolean,
    delivery: isOneOf("live", "lossless"),
    acknowledges: isBoolean,
    "alone?": isBoolean,
    "person?": isString(64),
    "login?": isString(64),
    "personName?": isString(256),
    acked: isOffset,
    window: isNumber,
    "cols?": isInteger(1, MAX_COLS),
    "rows?": isInteger(1, MAX_ROWS),
  },
  detach: { client: isId, how: isOneOf("left", "vanished") },
  ack: { client: isId, offset: isOffset, window: isNumber },
  eof: { client: isId, offset: isOffset },
  signal: { client: isId, signal: isOneOf(...SIGNALS) },
  resize: { client: isId, cols: isInteger(1, MAX_COLS), rows: isInteger(1, MAX_ROWS) },
  kill: { client: isId },
  pane: { client: isId, order: isString(MAX_CONTROL_IN_BYTES) },
  stdin_holder: { id: isString(128), "alone?": isBoolean },
  answerer: { id: isString(128), offset: isOffset },
  snapshot: {},
  write: {
    client: isId,
    at: isOffset,
    "bytes?": isString(MAX_WRITE_BYTES),
    "keys?": isArrayOf(isString(64), MAX_WRITE_BYTES),
    "paste?": isString(MAX_WRITE_BYTES),
    "enter?": isBoolean,
    "eof?": isBoolean,
    "again?": isBoolean,
    "once?": isObject({ id: isString(1_024), hash: isString(64), whole: isOffset }),
  },
  ask: {
    id: isInteger(0, 0xffff_ffff),
    about: isOneOf("screen", "commands", "chunks"),
    "after?": isOffset,
    "to?": isOffset,
    "most?": isOffset,
    "scrollback?": isOffset,
    "runs?": isBoolean,
    "ansi?": isBoolean,
  },
  park: { offset: isOffset, seconds: isInteger(0, MAX_PARK_SECONDS), after: isInteger(0, 3_600), bell: isId },
  ping: {},
};

const MESSAGE_SHAPES: Readonly<Record<InnerMessage["type"], Shape>> = {
  hello: {
    protocol: isString(64),
    incarnation: isId,
    tty: isBoolean,
    mode: isOneOf("collaborative", "exclusive"),
    delivery: isOneOf("live", "lossless"),
    cols: isInteger(1, MAX_COLS),
    rows: isInteger(1, MAX_ROWS),
    offset: isOffset,
    live: isOffset,
    holder: isString(128),
    creator: isString(128),
    cmd: isArrayOf(isString(MIB), 2048),
    createdAt: isMatch(/^\d{4}-\d\d-\d\dT[\d:.]{5,16}Z$/),
    clients: isArrayOf(
      isObject({
        id: isId,
        role: isOneOf("driver", "viewer"),
        stdin: isOffset,
        "eof?": isOffset,
        acked: isOffset,
        isAbsent: isBoolean,
        "received?": isOffset,
        "kind?": isKind,
        "name?": isString(256),
        "delivery?": isOneOf("live", "lossless"),
        "acknowledges?": isBoolean,
        "login?": isString(64),
        "personName?": isString(256),
      }),
      4096,
    ),
    "gone?": isArrayOf(isId, 4096),
    "marked?": isBoolean,
    "hasExited?": isBoolean,
    "title?": isString(MAX_TITLE_BYTES),
    "lastOutputMs?": isTime,
    "inputWindow?": isInteger(MAX_UNACKED_INPUT_BYTES, MAX_KEPT_INPUT_BYTES),
    "logBytes?": isInteger(MIN_LOG_BYTES, MAX_LOG_BYTES),
    "calls?": isBoolean,
  },
  parked: {},
  resize: { cols: isInteger(1, MAX_COLS), rows: isInteger(1, MAX_ROWS), offset: isOffset },
  gap: { from: isOffset, to: isOffset },
  exit: { ...EXIT_STATUS, offset: isOffset },
  output_end: { offset: isOffset },
  stdin_ack: { client: isId, offset: isOffset },
  error: { client: isId, code: isMatch(/^\w{1,64}$/), message: isString(1024) },
  bye: { code: isInteger(1000, 4999), reason: isString(), "client?": isId },
  snapshot: {
    offset: isOffset,
    cols: isInteger(1, MAX_COLS),
    rows: isInteger(1, MAX_ROWS),
    exact: isBoolean,
  },
  answered: { offset: isOffset },
  written: {
    client: isId,
    from: isOffset,
    to: isOffset,
    output: isOffset,
    "duplicate?": isBoolean,
    "last?": isOffset,
    "modes?": isObject({
      applicationCursor: isBoolean,
      applicationKeypad: isBoolean,
      newLine: isBoolean,
      bracketedPaste: isBoolean,
    }),
  },
  unwritten: {
    client: isId,
    code: isMatch(/^\w{1,64}$/),
    "message?": isString(1024),
    "expected?": isOffset,
    "holder?": isString(128),
  },
  answer: { id: isInteger(0, 0xffff_ffff), ok: isBoolean },
  command_end: { to: isOffset, "exit?": isInteger(-0x8000_0000, 0xffff_ffff) },
  panes: PANES_SHAPE,
  attention: {
    kind: isOneOf("bell", "notify"),
    "title?": isString(1024),
    "body?": isString(4096),
    offset: isOffset,
  },
  stopping: { seconds: isInteger(0, 86_400) },
  calls: {},
  title: { title: isString(MAX_TITLE_BYTES) },
  echo: { on: isBoolean, offset: isOffset },
  no_snapshot: {},
  pong: {},
};

export function parseInnerCommand(text: string): ControlResult<InnerCommand> {
  return parse<InnerCommand>(text, COMMAND_SHAPES, MAX_INNER_TEXT_BYTES);
}

/** @param maxBytes Most UTF-8 bytes of the text: only a greeting is long. */
export function parseInnerMessage(text: string, maxBytes = MAX_INNER_TEXT_BYTES): ControlResult<InnerMessage> {
  return parse<InnerMessage>(text, MESSAGE_SHAPES, maxBytes);
}
