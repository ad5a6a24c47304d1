// What every route answers with: a refusal, or a WebSocket that does what its request asked for.

import type { ServerWebSocket, WebSocketHandler } from "bun";
import { MAX_FED_FRAME_BYTES } from "sandbox-stdio/core";

/** Beyond this, Bun would drop messages. Output stops far below, so that only a fault can reach it. */
const QUEUE_LIMIT_BYTES = 64 * 1024 * 1024;
/** More than any client may send at once, so that its dialect refuses longer messages with its own code. */
const MAX_MESSAGE_BYTES = MAX_FED_FRAME_BYTES + 1024 * 1024;

/** What a socket is for: set before its upgrade, carried out when it opens. */
export type SocketData = {
  readonly open: (socket: ServerWebSocket<SocketData>) => void;
  receive: (frame: string | Uint8Array) => void;
  drained: () => void;
  closed: (code: number) => void;
};

/** Hands each event of a socket to what it is for. */
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
