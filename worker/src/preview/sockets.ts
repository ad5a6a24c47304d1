// Joins a browser's WebSocket with that of a server in the sandbox, message by message, for as long as its pass is good.

import { CLOSE, clipUtf8, MIB } from "sandbox-stdio/core";
import { queuedBytes } from "../session/client-sockets.ts";

/** A browser that takes less than its server sends is given up, where the runtime tells. */
const MAX_QUEUE_BYTES = 16 * MIB;

/**
 * @param watch Calls back at the end of what lets the browser in; returns how to stop that.
 * @param done Both are closed.
 */
export function joinSockets(
  { webSocket: server, headers }: Response,
  watch: (end: () => void) => () => void,
  done: () => void,
): Response {
  if (server === null) throw new Error("there is no WebSocket to join");
  const pair = new WebSocketPair();
  const browser = pair[1];
  let hasEnded = false;
  let stop: () => void = () => undefined;
  const end = (code: number, reason: string) => {
    if (hasEnded) return;
    hasEnded = true;
    stop();
    for (const socket of [browser, server]) close(socket, code, reason);
    done();
  };
  const ways = [
    [browser, server],
    [server, browser],
  ] as const;
  for (const [from, to] of ways) {
    from.binaryType = "arraybuffer";
    from.addEventListener("message", ({ data }) => {
      if (hasEnded) return;
      try {
        to.send(data as string | ArrayBuffer);
      } catch {
        return; // It has closed just now, and its close event says so.
      }
      if (queuedBytes(to) > MAX_QUEUE_BYTES) end(CLOSE.policy, "more waits than is read");
    });
    from.addEventListener("close", ({ code, reason }) => end(code ?? 1006, reason ?? ""));
    from.addEventListener("error", () => end(1006, ""));
    from.accept();
  }
  stop = watch(() => end(CLOSE.unauthenticated, "the login has ended"));
  const protocol = headers.get("Sec-WebSocket-Protocol");
  return new Response(null, {
    status: 101,
    webSocket: pair[0],
    headers: protocol === null ? {} : { "Sec-WebSocket-Protocol": protocol },
  });
}

/** Two codes say that none was sent, and can't be sent. */
function close(socket: WebSocket, code: number, reason: string): void {
  const sendable = code === 1005 ? CLOSE.normal : code === 1006 ? CLOSE.goingAway : code;
  try {
    socket.close(sendable, clipUtf8(reason, 123));
  } catch {
    // It has closed before.
  }
}
