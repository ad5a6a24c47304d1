// The clients' WebSockets as this runtime has them: which have spoken, and how they are closed so that they notice.

import type { ServerSocket } from "@sbx/sandbox-stdio";

/** Above this a socket has enough queued, where the runtime can tell. */
const HIGH_WATER_BYTES = 1024 * 1024;
/**
 * The runtime leaves the connection of a client that has never said anything open after a close of ours, until the client
 * gives up waiting. So such a client gets this long to say something, its first ping perhaps, or to close first, as the
 * plain ones do at the exit.
 */
const SILENT_CLIENT_CLOSE_MS = 1_000;
const SILENT_CLIENT_LOOK_MS = 20;

export class ClientSockets {
  readonly #ctx: DurableObjectState;
  /** Sockets on which something came that the runtime did not answer by itself. */
  readonly #heard = new WeakSet<WebSocket>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** A message has come. */
  heard(socket: WebSocket): void {
    this.#heard.add(socket);
  }

  /** When the last ping came, which is answered without waking this object; 0 for never. */
  pingedAtMs(socket: WebSocket): number {
    return this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
  }

  serverSocket(socket: WebSocket): ServerSocket {
    const close = (code: number, reason: string, deadlineMs: number) => {
      // A ping is answered without waking this object: it can only be looked for.
      const hasSpoken = this.#heard.has(socket) || this.#ctx.getWebSocketAutoResponseTimestamp(socket) !== null;
      if (hasSpoken || Date.now() >= deadlineMs) quietly(() => socket.close(code, reason));
      else setTimeout(() => close(code, reason, deadlineMs), SILENT_CLIENT_LOOK_MS);
    };
    return {
      send: (frame) => quietly(() => socket.send(frame)),
      close: (code, reason) => close(code, reason, Date.now() + SILENT_CLIENT_CLOSE_MS),
      isWritable: () => ((socket as { bufferedAmount?: number }).bufferedAmount ?? 0) < HIGH_WATER_BYTES,
    };
  }
}

/** A socket that closed just now throws on use; its close event is on the way and says the rest. */
export function quietly(use: () => void): void {
  try {
    use();
  } catch {
    // See above.
  }
}
