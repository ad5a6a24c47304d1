// Shared by dialects whose clients type in binary frames and send JSON for everything else.

import type { DecodedCommand, Frame, SessionEvent } from "../server/dialect.ts";
import { encodeUtf8 } from "../text/utf8-text.ts";
import { CLOSE, MAX_CONTROL_IN_BYTES, MAX_FED_FRAME_BYTES } from "../wire/constants.ts";
import { type ClientMessage, parseClientMessage } from "../wire/control.ts";

/** What the clients of Cloudflare's terminals are told. */
export function tellBytesAndJson(event: SessionEvent): Frame[] {
  switch (event.type) {
    case "live":
      return ['{"type":"ready"}'];
    case "output":
      return [event.frame.subarray(1)];
    case "exit":
      return [JSON.stringify({ type: "exit", code: event.code, signal: event.signal })];
    case "error":
      return [JSON.stringify({ type: "error", message: event.message })];
    case "bye":
      return [JSON.stringify({ type: "error", message: event.reason })];
    default:
      return [];
  }
}

/** Reads a frame of a client that may send only these messages. @param maxBytes Most bytes of a stdin frame. */
export function decodeBytesAndJson(
  frame: Frame,
  messages: readonly ClientMessage["type"][],
  maxBytes = MAX_FED_FRAME_BYTES,
): DecodedCommand {
  if (typeof frame !== "string") return decodeStdin(frame, maxBytes);
  const result = parseClientMessage(frame, MAX_CONTROL_IN_BYTES);
  if (result.ok) {
    const { type } = result.message;
    if (messages.includes(type)) return { kind: "command", command: result.message };
    return { kind: "error", code: "unknown_type", message: `Cannot follow a message of unknown type "${type}"` };
  }
  if (result.fault === "unknown_type" || result.fault === "bad_size") {
    return { kind: "error", code: result.fault, message: result.detail };
  }
  return { kind: "close", code: CLOSE.policy, reason: result.detail };
}

/** Whether a text has a `type`, as every message does. Other text is typed input. */
export function hasType(text: string): boolean {
  if (text.length > MAX_CONTROL_IN_BYTES || !text.startsWith("{")) return false;
  try {
    const value = JSON.parse(text) as { type?: unknown } | null;
    return typeof value?.type === "string";
  } catch {
    return false;
  }
}

/** Text that was typed, in one frame. */
export function decodeTyped(text: string): DecodedCommand {
  return decodeStdin(encodeUtf8(text));
}

/** Bytes that were typed, in one frame. */
export function decodeStdin(bytes: Uint8Array, maxBytes = MAX_FED_FRAME_BYTES): DecodedCommand {
  if (bytes.length > maxBytes) {
    return { kind: "close", code: CLOSE.tooBig, reason: `stdin frame of ${bytes.length} bytes: limit ${maxBytes}` };
  }
  return bytes.length === 0 ? { kind: "nothing" } : { kind: "command", command: { type: "stdin", bytes } };
}
