// What the dialects have in common whose clients type in binary frames and say the rest as JSON.

import { CLOSE, MAX_CONTROL_IN_BYTES, MAX_STDIN_FRAME_BYTES } from "../constants.ts";
import { type ClientMessage, parseClientMessage } from "../control.ts";
import type { DecodedCommand, Frame } from "../dialect.ts";

/** Reads a frame of a client that may say these messages and no others. */
export function decodeBytesAndJson(frame: Frame, messages: readonly ClientMessage["type"][]): DecodedCommand {
  if (typeof frame !== "string") {
    if (frame.length > MAX_STDIN_FRAME_BYTES) {
      const reason = `stdin frame of ${frame.length} bytes: limit ${MAX_STDIN_FRAME_BYTES}`;
      return { kind: "close", code: CLOSE.tooBig, reason };
    }
    return frame.length === 0 ? { kind: "nothing" } : { kind: "command", command: { type: "stdin", bytes: frame } };
  }
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
