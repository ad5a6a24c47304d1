// What every route answers with: a refusal, or a WebSocket that does what its request asked for.

import type { ServerWebSocket, WebSocketHandler } from "bun";
import { MAX_FED_FRAME_BYTES } from "sandbox-stdio/core";

/** Beyond this Bun would drop messages; output stops far below, so that only a fault can reach it. */
const QUEUE_LIMIT_BYTES = 64 * 1024 * 1024;
/** More than any client may send at once: a message that is too long is refused with the code of its dialect. */
const MAX_MESSAGE_BYTES = MAX_FED_FRAME_BYTES + 1024 * 1024;

/** The purpose of a socket: set before its upgrade, carried out when it opens. */
export type SocketData = {
  readonly open: (socket: ServerWebSocket<SocketData>) => void;
  receive: (frame: string | Uint8Array) => void;
  drained: () => void;
  closed: (code: number) => void;
};

/** What Bun does with a socket: its purpose. */
export const websocket: WebSocketHandler<SocketData> = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  backpressureLimit: QUEUE_LIMIT_BYTES,
  closeOnBackpressureLimit: true,
  perMessageDeflate: false,
  idleTimeout: 60,
  open: (socket) => socket.data.open(socket),
  message: (socket, message) => socket.data.receive(message),
  drain: (socket) => socket.data.drained(),
  close: (socket, code) => socket.data.closed(code),
};

export function refuse(status: number, error: string, message: string): Response {
  return Response.json({ error, message }, { status });
}
