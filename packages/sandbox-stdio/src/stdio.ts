// The project's own two dialects: `stdio.v1`, and the seed's plain one, which has the same frames and knows neither
// acknowledgements nor most messages (it ignores them).

import { CLOSE, MAX_CONTROL_IN_BYTES, MAX_STDIN_FRAME_BYTES, OUTER_PROTOCOL } from "./constants.ts";
import { parseClientMessage } from "./control.ts";
import type { DecodedCommand, Dialect, Frame, SessionEvent } from "./dialect.ts";

function encode(event: SessionEvent): readonly Frame[] {
  return [event.type === "output" ? event.frame : JSON.stringify(event)];
}

function decode(frame: Frame): DecodedCommand {
  if (typeof frame !== "string") {
    if (frame.length > MAX_STDIN_FRAME_BYTES) {
      const reason = `stdin frame of ${frame.length} bytes: limit ${MAX_STDIN_FRAME_BYTES}`;
      return { kind: "close", code: CLOSE.tooBig, reason };
    }
    return frame.length === 0 ? { kind: "nothing" } : { kind: "command", command: { type: "stdin", bytes: frame } };
  }
  const result = parseClientMessage(frame, MAX_CONTROL_IN_BYTES);
  if (result.ok) return { kind: "command", command: result.message };
  if (result.fault === "unknown_type" || result.fault === "bad_size") {
    return { kind: "error", code: result.fault, message: result.detail };
  }
  return { kind: "close", code: CLOSE.policy, reason: result.detail };
}

export const STDIO: Dialect = { name: "stdio", subprotocol: OUTER_PROTOCOL, acknowledges: true, encode, decode };

export const PLAIN: Dialect = { name: "plain", acknowledges: false, encode, decode };
