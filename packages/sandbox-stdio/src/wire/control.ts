// The JSON messages of the outer hop: one type and one schema each. Only this file parses a peer's text.
// A wrong shape is a named fault, never an exception.

import { utf8Length } from "../text/utf8-text.ts";
import type { Attention } from "./attention.ts";
import {
  MAX_COLS,
  MAX_CONTROL_IN_BYTES,
  MAX_CONTROL_OUT_BYTES,
  MAX_KEPT_INPUT_BYTES,
  MAX_ROWS,
  MAX_UNACKED_INPUT_BYTES,
  SIGNALS,
  type SignalName,
} from "./constants.ts";
import {
  PANE_INPUT_SHAPE,
  PANE_SHAPE,
  PANES_SHAPE,
  type PaneCommand,
  type PaneInputCommand,
  type PanesMessage,
} from "./pane-messages.ts";
import {
  type Check,
  checkShape,
  isArrayOf,
  isBoolean,
  isInteger,
  isNumber,
  isObject,
  isOffset,
  isOneOf,
  isRecord,
  isString,
  type Shape,
} from "./schema.ts";
import type { Delivery, Mode, Role } from "./terms.ts";

/** A person with a token, a guest who opened a share link without one, or an HTTP client. */
export type ParticipantKind = "person" | "guest" | "program";

/** A client as the others see it. The names of attached participants are unique. */
export type Participant = {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Absent from an older server. */
  readonly kind?: ParticipantKind;
  /** The name of the person whose window it is (L11b). Absent for guests and programs, and from an older server. */
  readonly person?: string;
  /** No other client may type while this one holds the keyboard, in either mode (D9b). Absent: false. */
  readonly alone?: boolean;
};

/** How a process ended: its exit code; or the signal that killed it, and 128 plus the signal's number. */
export type ExitStatus = { readonly code: number; readonly signal?: string };

export type ResizeCommand = {
  readonly type: "resize";
  readonly cols: number;
  readonly rows: number;
  /** Resizes this pane instead of the terminal. */
  readonly pane?: string;
};

/** The text messages of a client. */
export type ClientMessage =
  | ResizeCommand
  | { readonly type: "signal"; readonly signal: SignalName }
  | { readonly type: "eof"; readonly offset?: number }
  | { readonly type: "ack"; readonly offset: number }
  | { readonly type: "ping" }
  | { readonly type: "auth"; readonly token: string }
  | { readonly type: "request_stdin" }
  | { readonly type: "release_stdin" }
  | { readonly type: "grant_stdin"; readonly to: string }
  | { readonly type: "force_take" }
  | { readonly type: "take_ask"; readonly id: string }
  | { readonly type: "decline_ask"; readonly id: string }
  | { readonly type: "secret"; readonly on: boolean }
  | PaneInputCommand
  | PaneCommand
  | { readonly type: "kill" };

export type Hello = {
  readonly type: "hello";
  readonly protocol: string;
  readonly sandbox: string;
  readonly session: string;
  readonly incarnation: string;
  readonly tty: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly offset: number;
  readonly live: number;
  readonly stdin: number;
  readonly resume: string;
  readonly window: number;
  readonly delivery: Delivery;
  readonly you: Participant;
  readonly answerer: { readonly id: string; readonly offset: number };
  readonly holder: string;
  readonly mode: Mode;
  readonly participants: readonly Participant[];
  readonly gap?: number;
  /** PTY only: the screen may be wrong, since bytes are missing and no exact snapshot follows. */
  readonly approximate?: boolean;
  /** Whether the process was started for this client. */
  readonly creator?: boolean;
  /** Most unacknowledged input that the client may send. Absent: {@link MAX_UNACKED_INPUT_BYTES}. */
  readonly inputWindow?: number;
  /** Set if the session's output is recorded. */
  readonly recording?: Recording;
};

/** How an ask ended: the keyboard was given back, a person declined, or the ask expired. */
export type AskAnswer = "done" | "declined" | "expired";
export type Asked = {
  readonly id: string;
  readonly writer: string;
  readonly reason: string;
  readonly secret: boolean;
};

/** When the recording began (ISO 8601), and whether patterns redact parts of it. */
export type Recording = { readonly since: string; readonly redacted: boolean };

/** Whether a client may reconnect after a `bye`. Takes precedence over the close code. */
export type Retry = "never" | "now" | "after";

export type Bye = {
  readonly type: "bye";
  readonly code: number;
  readonly reason: string;
  readonly retry: Retry;
  readonly seconds?: number;
};

/** The text messages of a server. */
export type ServerMessage =
  | Hello
  | Bye
  | { readonly type: "status"; readonly status: "starting" | "running" | "lost" | "sleeping" }
  | { readonly type: "gap"; readonly from: number; readonly to: number; readonly approximate?: boolean }
  | { readonly type: "stdin_ack"; readonly offset: number }
  | { readonly type: "exit"; readonly code: number; readonly signal?: string; readonly offset: number }
  /** No output follows `offset`, but input is still accepted: half of a TCP connection is closed (A13b). */
  | { readonly type: "output_end"; readonly offset: number }
  | { readonly type: "resize"; readonly cols: number; readonly rows: number; readonly offset: number }
  | { readonly type: "join"; readonly participant: Participant }
  | { readonly type: "leave"; readonly id: string }
  | { readonly type: "stdin_holder"; readonly id: string }
  | { readonly type: "stdin_request"; readonly id: string }
  | { readonly type: "answerer"; readonly id: string; readonly offset: number }
  /** A program asks for a person (K11); the ask is taken `by` a client, or has ended. */
  | ({ readonly type: "ask" } & Asked)
  | { readonly type: "ask_state"; readonly id: string; readonly by?: string; readonly answer?: AskAnswer }
  /** Whether the terminal echoes typed text from `offset` on. */
  | { readonly type: "echo"; readonly on: boolean; readonly offset: number }
  | PanesMessage
  | ({ readonly type: "attention" } & Attention)
  /** Text that a program has typed, as shown to people. */
  | { readonly type: "typed"; readonly id: string; readonly text: string }
  | { readonly type: "expiring"; readonly seconds: number }
  /** The process's machine is going away: a process that still runs after `seconds` is killed (X8). */
  | { readonly type: "stopping"; readonly seconds: number }
  /** Whether this client's input is secret from here on. Sent if the client may not know. */
  | { readonly type: "secret"; readonly on: boolean }
  | { readonly type: "error"; readonly code: string; readonly message: string }
  | { readonly type: "pong" };

/** Ping, and the answer that a platform may send without waking the session object. */
export const PING_TEXT = '{"type":"ping"}';
export const PONG_TEXT = '{"type":"pong"}';

/** Why a text was rejected. `unknown_type` and `bad_size` leave the socket open; the others close it with 1008 (or 1009). */
export type ControlFault = "too_large" | "not_json" | "wrong_shape" | "unknown_type" | "bad_size";
export type ControlResult<M> =
  | { readonly ok: true; readonly message: M }
  | { readonly ok: false; readonly fault: ControlFault; readonly detail: string };

const isId: Check = isString(128);
export const isKind: Check = isOneOf("person", "guest", "program");
const isParticipant: Check = isObject({
  id: isId,
  name: isString(256),
  role: isOneOf("driver", "viewer"),
  "kind?": isKind,
  "alone?": isBoolean,
  "person?": isString(256),
});

const CLIENT_SHAPES: Readonly<Record<ClientMessage["type"], Shape>> = {
  resize: { cols: isNumber, rows: isNumber, "pane?": isString(64) },
  stdin: PANE_INPUT_SHAPE,
  pane: PANE_SHAPE,
  signal: { signal: isOneOf(...SIGNALS) },
  eof: { "offset?": isOffset },
  ack: { offset: isOffset },
  ping: {},
  auth: { token: isString(MAX_CONTROL_IN_BYTES) },
  request_stdin: {},
  release_stdin: {},
  grant_stdin: { to: isId },
  force_take: {},
  take_ask: { id: isId },
  decline_ask: { id: isId },
  secret: { on: isBoolean },
  kill: {},
};

const SERVER_SHAPES: Readonly<Record<ServerMessage["type"], Shape>> = {
  hello: {
    protocol: isString(64),
    sandbox: isString(256),
    session: isString(256),
    incarnation: isString(128),
    tty: isBoolean,
    cols: isInteger(1, MAX_COLS),
    rows: isInteger(1, MAX_ROWS),
    offset: isOffset,
    live: isOffset,
    stdin: isOffset,
    resume: isString(),
    window: isInteger(1, Number.MAX_SAFE_INTEGER),
    delivery: isOneOf("live", "lossless"),
    you: isParticipant,
    answerer: isObject({ id: isString(128), offset: isOffset }),
    holder: isString(128),
    mode: isOneOf("collaborative", "exclusive"),
    participants: isArrayOf(isParticipant, 1024),
    "gap?": isOffset,
    "approximate?": isBoolean,
    "creator?": isBoolean,
    "inputWindow?": isInteger(MAX_UNACKED_INPUT_BYTES, MAX_KEPT_INPUT_BYTES),
    "recording?": isObject({ since: isString(64), redacted: isBoolean }),
  },
  bye: {
    code: isInteger(1000, 4999),
    reason: isString(),
    retry: isOneOf("never", "now", "after"),
    "seconds?": isNumber,
  },
  status: { status: isOneOf("starting", "running", "lost", "sleeping") },
  gap: { from: isOffset, to: isOffset, "approximate?": isBoolean },
  stdin_ack: { offset: isOffset },
  exit: { code: isInteger(0, 255), "signal?": isString(32), offset: isOffset },
  output_end: { offset: isOffset },
  resize: { cols: isInteger(1, MAX_COLS), rows: isInteger(1, MAX_ROWS), offset: isOffset },
  join: { participant: isParticipant },
  leave: { id: isId },
  stdin_holder: { id: isString(128) },
  stdin_request: { id: isId },
  answerer: { id: isString(128), offset: isOffset },
  ask: { id: isId, writer: isString(256), reason: isString(), secret: isBoolean },
  ask_state: { id: isId, "by?": isId, "answer?": isOneOf("done", "declined", "expired") },
  echo: { on: isBoolean, offset: isOffset },
  typed: { id: isId, text: isString(512) },
  panes: PANES_SHAPE,
  attention: { kind: isOneOf("bell", "notify"), "title?": isString(), "body?": isString(), offset: isOffset },
  expiring: { seconds: isNumber },
  stopping: { seconds: isNumber },
  secret: { on: isBoolean },
  error: { code: isString(64), message: isString() },
  pong: {},
};

/** The types of all client messages. */
export const CLIENT_MESSAGES = Object.keys(CLIENT_SHAPES) as readonly ClientMessage["type"][];

/** Whether a PTY may have this size. */
export function isSize(cols: number, rows: number): boolean {
  return (
    Number.isInteger(cols) && Number.isInteger(rows) && cols >= 1 && cols <= MAX_COLS && rows >= 1 && rows <= MAX_ROWS
  );
}

/** Reads a client's message. */
export function parseClientMessage(text: string, maxBytes = MAX_CONTROL_IN_BYTES): ControlResult<ClientMessage> {
  const result = parse<ClientMessage>(text, CLIENT_SHAPES, maxBytes);
  if (result.ok && result.message.type === "resize" && !isSize(result.message.cols, result.message.rows)) {
    const { cols, rows } = result.message;
    const detail = `Cannot resize to ${cols} by ${rows}: from 1 by 1 to ${MAX_COLS} by ${MAX_ROWS}`;
    return { ok: false, fault: "bad_size", detail };
  }
  return result;
}

/** Reads a server's message. Clients ignore an `unknown_type`: the server may be newer. */
export function parseServerMessage(text: string): ControlResult<ServerMessage> {
  return parse<ServerMessage>(text, SERVER_SHAPES, MAX_CONTROL_OUT_BYTES);
}

/** Parses one JSON object by its `type`. The inner hop passes its own shapes. */
export function parse<M extends { readonly type: string }>(
  text: string,
  shapes: Readonly<Record<M["type"], Shape>>,
  maxBytes: number,
): ControlResult<M> {
  // A UTF-16 unit takes at most three bytes, so a short text needs no counting.
  if (text.length > maxBytes || (3 * text.length > maxBytes && utf8Length(text) > maxBytes)) {
    return { ok: false, fault: "too_large", detail: `Cannot read a control message of more than ${maxBytes} bytes` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // JSON.parse reports invalid JSON only by throwing.
    return { ok: false, fault: "not_json", detail: "Cannot read a control message: it is not JSON" };
  }
  if (!isRecord(value) || typeof value.type !== "string") {
    return { ok: false, fault: "wrong_shape", detail: 'Cannot read a control message: need an object with a "type"' };
  }
  const type = value.type;
  const shape: Shape | undefined = Object.hasOwn(shapes, type) ? shapes[type as M["type"]] : undefined;
  if (shape === undefined) {
    return { ok: false, fault: "unknown_type", detail: `Cannot follow a message of unknown type "${clip(type)}"` };
  }
  const problem = checkShape(value, shape);
  if (problem !== undefined) return { ok: false, fault: "wrong_shape", detail: `Cannot follow "${type}": ${problem}` };
  // The cast is safe: type M mirrors the table that the shape was checked against.
  return { ok: true, message: value as unknown as M };
}

function clip(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
