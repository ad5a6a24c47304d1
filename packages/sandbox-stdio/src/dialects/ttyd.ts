// ttyd 1.7.7: each message starts with a type character. The client speaks first, in JSON. Its page reads only bytes, so
// everything is sent in binary; the client may send text.

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
import { cloneBytes, decodeUtf8, encodeUtf8 } from "../text/utf8-text.ts";
import {
  CLOSE,
  MAX_COLS,
  MAX_CONTROL_IN_BYTES,
  MAX_ROWS,
  STREAM_SNAPSHOT,
  STREAM_STDERR,
  STREAM_STDOUT,
} from "../wire/constants.ts";
import { type Hello, isSize } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import { decodeStdin } from "./bytes-and-json.ts";
import { terminalQuery } from "./terminal-query.ts";

/** First characters of a server's messages. */
const OUTPUT = 0x30;
const TITLE = "1";
const PREFERENCES = "2";
/** First characters of a client's messages. */
const INPUT = "0";
const RESIZE = "1";
const PAUSE = "2";
const RESUME = "3";
const JSON_DATA = "{";

const NOTHING: Encoded<undefined> = { frames: [], state: undefined };
const IGNORED: DecodedCommand = { kind: "nothing" };

// ---- Session to client -------------------------------------------------------------------------------------------

function encode(event: SessionEvent): Encoded<undefined> {
  switch (event.type) {
    case "hello":
      // ttyd's page warns on leaving that the command will end, but here it goes on.
      return encoded(`${TITLE}${titleOf(event)}`, `${PREFERENCES}{"disableLeaveAlert":true}`);
    case "output":
      return isShown(event.frame[0]) ? { frames: [asOutput(event.frame)], state: undefined } : NOTHING;
    case "bye":
      // ttyd's page reconnects forever after any code but 1000; this makes it wait for the Enter key.
      return event.retry === "now" ? NOTHING : encoded(`${PREFERENCES}{"disableReconnect":true}`);
    default:
      return NOTHING;
  }
}

/** The title is the only way to tell ttyd's page about the right to type. */
function titleOf({ session, sandbox, you }: Hello): string {
  return `${you.role === "viewer" ? "view only: " : ""}${session} (${sandbox})`;
}

function encoded(...texts: string[]): Encoded<undefined> {
  return { frames: texts.map(encodeUtf8), state: undefined };
}

function isShown(stream: number | undefined): boolean {
  return stream === STREAM_STDOUT || stream === STREAM_STDERR || stream === STREAM_SNAPSHOT;
}

/** Copies, since the frame is shared by all clients. */
function asOutput(frame: Uint8Array): Uint8Array {
  const output = cloneBytes(frame);
  output[0] = OUTPUT;
  return output;
}

// ---- Client to session -------------------------------------------------------------------------------------------

function decode(frame: Frame): DecodedCommand {
  const prefix = typeof frame === "string" ? frame.charAt(0) : String.fromCharCode(frame[0] ?? 0);
  switch (prefix) {
    case INPUT:
      return decodeStdin(typeof frame === "string" ? encodeUtf8(frame.slice(1)) : frame.subarray(1));
    case RESIZE:
      return decodeResize(frame);
    case PAUSE:
      return { kind: "command", command: { type: "pause" } };
    case RESUME:
      return { kind: "command", command: { type: "unpause" } };
    case JSON_DATA:
      return decodeBegin(frame);
    default:
      return IGNORED; // Like ttyd.
  }
}

function decodeResize(frame: Frame): DecodedCommand {
  const read = readJson(frame, 1);
  if (!read.ok) return read.refusal;
  const { columns: cols, rows } = read.value;
  if (typeof cols !== "number" || typeof rows !== "number") return forbidden('a resize is 1{"columns":80,"rows":24}');
  if (isSize(cols, rows)) return { kind: "command", command: { type: "resize", cols, rows } };
  return { kind: "error", code: "bad_size", message: `columns are 1 to ${MAX_COLS} and rows 1 to ${MAX_ROWS}` };
}

function decodeBegin(frame: Frame): DecodedCommand {
  const read = readJson(frame, 0);
  if (!read.ok) return read.refusal;
  const { AuthToken, columns: cols, rows } = read.value;
  const token = typeof AuthToken === "string" && AuthToken !== "" ? AuthToken : undefined;
  const size = typeof cols === "number" && typeof rows === "number" && isSize(cols, rows) ? { cols, rows } : undefined;
  return { kind: "command", command: { type: "begin", ...defined({ token, size }) } };
}

type Fields = { readonly AuthToken?: unknown; readonly columns?: unknown; readonly rows?: unknown };
type Read = { readonly ok: true; readonly value: Fields } | { readonly ok: false; readonly refusal: DecodedCommand };

function readJson(frame: Frame, from: number): Read {
  if (frame.length > MAX_CONTROL_IN_BYTES) {
    return { ok: false, refusal: forbidden(`message of more than ${MAX_CONTROL_IN_BYTES} bytes`) };
  }
  const text = typeof frame === "string" ? frame.slice(from) : decodeUtf8(frame.subarray(from));
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return { ok: true, value };
  } catch {
    // Refused below.
  }
  return { ok: false, refusal: forbidden("the message is not a JSON object") };
}

function forbidden(reason: string): DecodedCommand {
  return { kind: "close", code: CLOSE.policy, reason };
}

// ---- The dialect and its routes ----------------------------------------------------------------------------------

export const TTYD: Dialect<undefined> = {
  name: "ttyd",
  acknowledges: false,
  canResume: false,
  clientBegins: true,
  start: undefined,
  reasons: { [CLOSE.unauthenticated]: "Unauthorized", [CLOSE.unavailable]: "Container not running" },
  encode,
  decode,
};

function wish({ params, search }: RouteRequest): AttachWish {
  return terminalQuery(
    {
      sandbox: params.project ?? "",
      session: search.get("session") || "main",
      tty: "1",
      wake: search.get("wake") ?? "1",
    },
    search,
  );
}

const COMMON = {
  dialect: TTYD,
  subprotocol: { name: "tty", isRequired: false },
  refusal: "close",
  isTransient: true,
  authenticatesSession: true,
  wish,
} as const;

export const TTYD_ROUTES: readonly DialectRoute[] = [
  { path: "/terminal/:project", ...COMMON },
  { path: "/terminal/:project/ws", ...COMMON },
];
