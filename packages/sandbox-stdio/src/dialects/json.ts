// The JSON gateway: everything is JSON text. Output is split between characters, and invalid UTF-8 is replaced.

import type {
  AttachWish,
  DecodedCommand,
  Dialect,
  DialectRoute,
  Encoded,
  Frame,
  RouteRequest,
  SessionEvent,
} from "../server/dialect.ts";
import { decodeUtf8, encodeUtf8, splitUtf8 } from "../text/utf8-text.ts";
import { isName } from "../wire/attach-query.ts";
import { CLOSE, KIB } from "../wire/constants.ts";
import { parse } from "../wire/control.ts";
import { isInteger, isString, type Shape } from "../wire/schema.ts";
import { terminalQuery } from "./terminal-query.ts";

const MAX_MESSAGE_BYTES = 16 * KIB;
const MAX_INPUT_CHARACTERS = 8192;

type JsonMessage =
  | { readonly type: "input"; readonly data: string }
  | { readonly type: "resize"; readonly cols: number; readonly rows: number };

const SHAPES: Readonly<Record<JsonMessage["type"], Shape>> = {
  input: { data: isString(MAX_INPUT_CHARACTERS) },
  resize: { cols: isInteger(1, 500), rows: isInteger(1, 200) },
};

type JsonState = {
  /** Number of attached clients, including this one. */
  readonly clients: number;
  /** Whether the client is a viewer. */
  readonly isViewer: boolean;
  /** The start of an incomplete character. */
  readonly tail: Uint8Array;
};

const NO_BYTES = new Uint8Array(0);

function encode(event: SessionEvent, state: JsonState): Encoded<JsonState> {
  switch (event.type) {
    case "hello":
      return status("connected", event.participants.length, { ...state, isViewer: event.you.role === "viewer" });
    case "join":
      return status("connected", state.clients + 1, state);
    case "leave":
      return status("disconnected", state.clients - 1, state);
    case "error":
      // The dialect has no errors. A viewer that types gets the status again.
      if (!state.isViewer || event.code !== "not_stdin_holder") return { frames: [], state };
      return status("connected", state.clients, state);
    case "output": {
      const { whole, tail } = splitUtf8(state.tail, event.frame.subarray(1));
      return { frames: outputOf(whole), state: { ...state, tail } };
    }
    case "gap":
      // The next bytes don't complete that character.
      return { frames: outputOf(state.tail), state: { ...state, tail: NO_BYTES } };
    case "exit": {
      // Like node-pty, give the signal's number.
      const signal = event.signal === undefined ? undefined : event.code - 128;
      const exit = JSON.stringify({ type: "exit", exitCode: event.code, signal });
      return { frames: [...outputOf(state.tail), exit], state: { ...state, tail: NO_BYTES } };
    }
    default:
      return { frames: [], state };
  }
}

function status(word: "connected" | "disconnected", clients: number, state: JsonState): Encoded<JsonState> {
  const readOnly = state.isViewer ? { readOnly: true } : {};
  return {
    frames: [JSON.stringify({ type: "status", status: word, clients, ...readOnly })],
    state: { ...state, clients },
  };
}

function outputOf(bytes: Uint8Array): Frame[] {
  return bytes.length === 0 ? [] : [JSON.stringify({ type: "output", data: decodeUtf8(bytes) })];
}

function decode(frame: Frame): DecodedCommand {
  if (frame.length > MAX_MESSAGE_BYTES) {
    const reason = `message of more than ${MAX_MESSAGE_BYTES} bytes`;
    return { kind: "close", code: CLOSE.policy, reason };
  }
  const text = typeof frame === "string" ? frame : decodeUtf8(frame);
  const result = parse<JsonMessage>(text, SHAPES, MAX_MESSAGE_BYTES);
  if (!result.ok) return { kind: "close", code: CLOSE.policy, reason: result.detail };
  const { message } = result;
  if (message.type === "resize") return { kind: "command", command: message };
  if (message.data === "") return { kind: "nothing" };
  return { kind: "command", command: { type: "stdin", bytes: encodeUtf8(message.data) } };
}

export const JSON_GATEWAY: Dialect<JsonState> = {
  name: "json",
  acknowledges: false,
  canResume: false,
  start: { clients: 0, isViewer: false, tail: NO_BYTES },
  encode,
  decode,
};

/** `SANDBOX:SESSION`, or `SANDBOX` for session `main`; always in the caller's tenant. */
function wish({ search }: RouteRequest): AttachWish {
  const [sandbox = "", session = "main", ...more] = (search.get("sessionId") ?? "").split(":");
  if (!isName(sandbox) || !isName(session) || more.length > 0) {
    const detail = '"sessionId" must be SANDBOX:SESSION or SANDBOX, and yours';
    return { ok: false, code: CLOSE.unauthenticated, error: "wrong_session", detail };
  }
  return terminalQuery({ sandbox, session, tty: "1", keep: "0" }, search);
}

export const JSON_ROUTES: readonly DialectRoute[] = [
  {
    path: "/sandbox/terminal",
    dialect: JSON_GATEWAY,
    refusal: "status",
    limits: "json",
    isTransient: true,
    checksOrigin: true,
    authenticatesSession: true,
    wish,
  },
];
