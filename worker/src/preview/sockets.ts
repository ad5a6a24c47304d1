// Joins a browser's WebSocket with that of a server in the sandbox, message by message, for as long as its pass is good.

import { CLOSE, clipUtf8, MIB } from "sandbox-stdio/core";
import { queuedBytes, TELLS_QUEUE } from "../sockets/client-sockets.ts";
import { sharedPool, type UnheardPool } from "../sockets/unheard.ts";

/** A browser that takes less than its server sends is given up, where the runtime tells. */
const MAX_QUEUE_BYTES = 16 * MIB;

/** What bounds that where the runtime does not tell: bytes that were sent since the browser's last message. */
export function unheardPool(capacityBytes: number): UnheardPool | undefined {
  return TELLS_QUEUE ? undefined : sharedPool(capacityBytes);
}

/**
 * @param watch Calls back at the end of what lets the browser in; returns how to stop that.
 * @param done Both are closed.
 */
export function joinSockets(
  { webSocket: server, headers }: Response,
  watch: (end: () => void) => () => void,
  done: () => void,
  pool: UnheardPool | undefined,
): Response {
  if (server === null) throw new Error("there is no WebSocket to join");
  const pair = new WebSocketPair();
  const browser = pair[1];
  const unheard = pool?.join();
  let hasEnded = false;
  let stop: () => void = () => undefined;
  const end = (code: number, reason: string) => {
    if (hasEnded) return;
    hasEnded = true;
    unheard?.end();
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
      if (from === browser) unheard?.heard();
      else unheard?.sent(typeof data === "string" ? data.length : data.byteLength);
      if (queuedBytes(to) > MAX_QUEUE_BYTES || unheard?.isSmall === false) {
        end(CLOSE.policy, "more waits than is read");
      }
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
