// Closes a socket with a code and a reason that another socket was closed with.

import { CLOSE, clipUtf8 } from "sandbox-stdio/core";

/** Passes on a close from the other end of a proxied connection. Does nothing if the socket has closed already. */
export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  // These two stand for a missing code, and can't be sent.
  const sendable = code === 1005 ? CLOSE.normal : code === 1006 ? CLOSE.goingAway : code;
  try {
    socket.close(sendable, clipUtf8(reason, 123));
  } catch {
    // The socket has closed.
  }
}
