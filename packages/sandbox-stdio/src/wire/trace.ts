// A session's trace: one line for each message and decision. Pure formatting; the shell prints.
// Lines hold lengths, offsets and ids, never input, output or credentials.

import { STREAM_SNAPSHOT, STREAM_STDERR, STREAM_STDOUT } from "./constants.ts";
import { decodeStdin } from "./frames.ts";

/** Takes one line of a trace. Absent if tracing is off: the cost is then one branch. */
export type Trace = (line: string) => void;

/** Sender of a frame; a binary frame's meaning depends on the direction. */
export type Speaker = "client" | "server" | "object" | "bridge";

/** Fields whose text is shown: safe to log and needed to follow a session. Other text is left out. */
const SHOWN = new Set([
  ...["id", "to", "client", "holder", "creator", "status", "role", "mode", "delivery", "how", "retry", "kind", "what"],
  ...["code", "signal", "reason", "message", "error", "sandbox", "session", "incarnation", "protocol", "name"],
]);
const MAX_TEXT = 60;
const MAX_FIELDS = 24;
const STREAMS = new Map<number | undefined, string>([
  [STREAM_STDOUT, "stdout"],
  [STREAM_STDERR, "stderr"],
  [STREAM_SNAPSHOT, "snapshot"],
]);

/**
 * Makes the trace of one session, if the setting asks for it.
 * @param setting Comma-separated: `*`, session names, `SANDBOX/SESSION`. Absent or empty: no trace.
 * @param part The part of the system that prints.
 * @param time Returns the formatted time of a line.
 */
export function traceOf(
  setting: string | undefined,
  place: { readonly sandbox: string; readonly session: string; readonly part: string },
  print: Trace,
  time: () => string,
): Trace | undefined {
  if (!setting) return undefined;
  const { sandbox, session, part } = place;
  const asked = setting.split(",").map((one) => one.trim());
  if (!["*", session, `${sandbox}/${session}`].some((name) => asked.includes(name))) return undefined;
  return (line) => print(`trace ${time()} ${sandbox}/${session} ${part} ${line}`);
}

/** One WebSocket message in a few words. */
export function describeFrame(frame: string | Uint8Array, speaker: Speaker): string {
  if (typeof frame === "string") return describeText(frame);
  if (speaker === "client") return `stdin ${frame.length} B`;
  if (speaker === "object") {
    const stdin = decodeStdin(frame);
    if (stdin === undefined) return `unknown frame ${frame.length} B`;
    return `stdin slot=${stdin.slot} from=${stdin.offset} ${stdin.bytes.length} B`;
  }
  const stream = STREAMS.get(frame[0]);
  // Some dialects' frames have no type byte.
  return stream === undefined ? `binary ${frame.length} B` : `${stream} ${frame.length - 1} B`;
}

/** Formats a message's fields: numbers and booleans as they are, known texts in full, lists by length. */
export function describeMessage(message: Readonly<Record<string, unknown>>): string {
  const { type, ...fields } = message;
  const words = Object.entries(fields).slice(0, MAX_FIELDS);
  return [plain(type), ...words.map(([key, value]) => `${plain(key)}=${describeValue(key, value)}`)].join(" ");
}

function describeText(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
    if (isMessage) return describeMessage(value as Record<string, unknown>);
  } catch {
    // A dialect's own text, or malformed: the length is enough.
  }
  return `text ${text.length} characters`;
}

function describeValue(key: string, value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.length}]`;
  if (typeof value === "object" && value !== null) {
    const { id } = value as { readonly id?: unknown };
    return typeof id === "string" ? plain(id) : "{…}";
  }
  return SHOWN.has(key) ? plain(value) : "…";
}

/** Keeps text on one line, without characters that a terminal would act on. */
function plain(value: unknown): string {
  const text = String(value);
  const clipped = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return /^[\w.:/-]+…?$/.test(clipped) ? clipped : escaped(clipped);
}

function escaped(text: string): string {
  const hex = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, hex);
}

/** The sending side of a socket at either end of a hop. */
type Sender = { send(frame: string | Uint8Array): void; close?(code: number, reason: string): void };

/** Wraps a socket. Each frame is traced before it is sent, since the socket then owns its memory. */
export function tracedSocket<S extends Sender>(socket: S, trace: Trace | undefined, whom: string, speaker: Speaker): S {
  if (trace === undefined) return socket;
  const close = socket.close?.bind(socket);
  const traced: S = {
    ...socket,
    send: (frame) => {
      trace(`tells ${whom} ${describeFrame(frame, speaker)}`);
      socket.send(frame);
    },
  };
  if (close !== undefined) {
    traced.close = (code, reason) => {
      trace(`closes ${whom} ${describeMessage({ type: String(code), reason })}`);
      close(code, reason);
    };
  }
  return traced;
}

/** Wraps a receiver to trace each frame first. Without a trace, returns `receive` itself. */
export function tracedReceiver(
  receive: (frame: string | Uint8Array) => void,
  trace: Trace | undefined,
  whom: string,
  speaker: Speaker,
): (frame: string | Uint8Array) => void {
  if (trace === undefined) return receive;
  return (frame) => {
    trace(`hears ${whom} ${describeFrame(frame, speaker)}`);
    receive(frame);
  };
}
