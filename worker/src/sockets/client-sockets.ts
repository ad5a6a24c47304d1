// The clients' WebSockets as this runtime has them: the ones that have spoken, and how they are closed so that they notice.

import {
  CLOSE,
  type Dialect,
  dialectNamed,
  type Frame,
  PING_TEXT,
  PLAIN_QUEUE_BYTES,
  PONG_TEXT,
  type ServerSocket,
  type SocketQueue,
} from "sandbox-stdio/core";
import type { Counts } from "../metrics/counts.ts";
import type { Unacknowledged, UnacknowledgedPool } from "./unacknowledged.ts";

/** Above this a socket has enough queued, where the runtime can tell. */
const HIGH_WATER_BYTES = PLAIN_QUEUE_BYTES;
/**
 * The runtime leaves the connection of a client that has never said anything open after a close of ours, until the client
 * gives up waiting. So such a client gets this long to say something, its first ping perhaps; or to close first, as the
 * plain ones do at the exit.
 */
const SILENT_CLIENT_CLOSE_MS = 1_000;
const SILENT_CLIENT_LOOK_MS = 20;
/** Whether the runtime tells how many bytes wait in a socket. */
export const TELLS_QUEUE = "bufferedAmount" in WebSocket.prototype;

/** The bytes that went to a socket: in all, by the last look at its queue, and the bytes that waited then. */
type Sent = { bytes: number; lookedAt: number; waitingThen: number };

/** The events of a socket, for its owner. */
export interface SocketEvents {
  webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void;
  webSocketClose(socket: WebSocket, code: number, reason: string): void;
  webSocketError(socket: WebSocket): void;
}

export class ClientSockets {
  readonly #ctx: DurableObjectState;
  readonly #counts: Counts;
  /** Sockets on which something came that the runtime did not answer by itself. */
  readonly #heard = new WeakSet<WebSocket>();
  /** Sockets that live no longer than this object. */
  readonly #own = new WeakSet<WebSocket>();
  /** Bytes sent since the client's last message, on sockets whose queue the runtime does not report. */
  readonly #unacknowledged = new WeakMap<WebSocket, Unacknowledged>();
  readonly #pool: UnacknowledgedPool | undefined;
  readonly #sent = new WeakMap<WebSocket, Sent>();

  /** @param pool Shared by all sockets in this memory; absent for no limit. */
  constructor(ctx: DurableObjectState, pool: UnacknowledgedPool | undefined, counts: Counts) {
    this.#ctx = ctx;
    this.#counts = counts;
    this.#pool = TELLS_QUEUE ? undefined : pool;
  }

  /** Takes a socket that outlives this object, and whose pings are answered without waking it. */
  acceptLasting(socket: WebSocket, dialect: string): void {
    this.#ctx.acceptWebSocket(socket, [dialect]);
    this.#watch(socket);
  }

  /** A socket that an earlier life of this object took. */
  revived(socket: WebSocket): void {
    this.#heard.add(socket);
    this.#watch(socket);
  }

  /** Whether it lives no longer than this object. */
  isOwn(socket: WebSocket): boolean {
    return this.#own.has(socket);
  }

  /** Its client has closed it, or is gone: bytes that were sent to it lie in memory no more. */
  ended(socket: WebSocket): void {
    this.#unacknowledged.get(socket)?.end();
  }

  #watch(socket: WebSocket): void {
    const isPlain = !dialectNamed(this.#ctx.getTags(socket)[0] ?? "").acknowledges;
    const unacknowledged = isPlain ? this.#pool?.join() : undefined;
    if (unacknowledged !== undefined) this.#unacknowledged.set(socket, unacknowledged);
  }

  /**
   * Takes a socket of a client that can't come back to anything: it ends with this object. Such a client may never say a
   * word, and on a socket of this kind it still notices at once that it is closed; a ping on it is a message like any other.
   */
  acceptOwn(socket: WebSocket, events: SocketEvents): void {
    this.#own.add(socket);
    const unacknowledged = this.#pool?.join();
    if (unacknowledged !== undefined) this.#unacknowledged.set(socket, unacknowledged);
    socket.binaryType = "arraybuffer";
    socket.accept();
    socket.addEventListener("message", ({ data }) => events.webSocketMessage(socket, data));
    socket.addEventListener("close", ({ code, reason }) => {
      unacknowledged?.end();
      events.webSocketClose(socket, code, reason);
    });
    socket.addEventListener("error", () => {
      unacknowledged?.end();
      events.webSocketError(socket);
    });
  }

  /** A message has come. */
  heard(socket: WebSocket): void {
    this.#heard.add(socket);
    this.#unacknowledged.get(socket)?.heard();
  }

  /** Answers a client's close. The runtime leaves that to us where a socket outlives this object. */
  answerClose(socket: WebSocket, code: number, reason: string): void {
    // 1005 and 1006 are no codes, and others that a client may have sent can't be either: unanswered, TCP stays open.
    const isSendable = code === CLOSE.normal || (code >= 3000 && code <= 4999);
    quietly(() => socket.close(isSendable ? code : CLOSE.normal, isSendable ? reason : ""));
  }

  /** When the last ping came, which is answered without waking this object; 0 for never. */
  pingedAtMs(socket: WebSocket): number {
    return this.#own.has(socket) ? 0 : (this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0);
  }

  /** Bytes sent to a socket, and bytes that wait in it; undefined if the runtime does not report them. */
  queueOf(socket: WebSocket): SocketQueue | undefined {
    return TELLS_QUEUE ? { sent: this.#sentOf(socket).bytes, waiting: queuedBytes(socket) } : undefined;
  }

  serverSocket(socket: WebSocket): ServerSocket {
    const close = (code: number, reason: string, deadlineMs: number) => {
      // A ping is answered without waking this object: it can only be looked for.
      const mayClose = this.#own.has(socket) || this.#heard.has(socket);
      const hasSpoken = mayClose || this.#ctx.getWebSocketAutoResponseTimestamp(socket) !== null;
      if (hasSpoken || Date.now() >= deadlineMs) quietly(() => socket.close(code, reason));
      else setTimeout(() => close(code, reason, deadlineMs), SILENT_CLIENT_LOOK_MS);
    };
    const unacknowledged = this.#unacknowledged.get(socket);
    const sent = this.#sentOf(socket);
    return {
      send: (frame) => {
        unacknowledged?.sent(frame.length);
        this.#send(socket, frame, sent);
      },
      close: (code, reason) => close(code, reason, Date.now() + SILENT_CLIENT_CLOSE_MS),
      isWritable: () => {
        if (unacknowledged !== undefined) return unacknowledged.isSmall;
        return hasRoom(socket, sent);
      },
    };
  }

  #sentOf(socket: WebSocket): Sent {
    const known = this.#sent.get(socket);
    if (known !== undefined) return known;
    const sent = { bytes: 0, lookedAt: 0, waitingThen: 0 };
    this.#sent.set(socket, sent);
    return sent;
  }

  #send(socket: WebSocket, frame: Frame, sent: Sent): void {
    // Only the runtime knows a text's length in bytes.
    const before = typeof frame === "string" ? queuedBytes(socket) : 0;
    quietly(() => {
      socket.send(frame);
      const bytes = typeof frame === "string" ? queuedBytes(socket) - before : frame.length;
      this.#counts.add("sent_bytes", bytes);
      sent.bytes += bytes;
    });
  }
}

/** Whether what the runtime answers by itself on a lasting socket is what this dialect would have answered. */
export function answersPings(dialect: Dialect): boolean {
  const asked = dialect.decode(PING_TEXT);
  if (asked.kind !== "command" || asked.command.type !== "ping") return false;
  const { frames } = dialect.encode({ type: "pong" }, dialect.start);
  return frames.length === 1 && frames[0] === PONG_TEXT;
}

/** Asks the runtime only if more may wait than is allowed: each question costs as much as sending a short frame. */
function hasRoom(socket: WebSocket, sent: Sent): boolean {
  if (sent.waitingThen + sent.bytes - sent.lookedAt < HIGH_WATER_BYTES) return true;
  sent.waitingThen = queuedBytes(socket);
  sent.lookedAt = sent.bytes;
  return sent.waitingThen < HIGH_WATER_BYTES;
}

/** Bytes that were sent and have not left; 0 where the runtime does not tell. */
export function queuedBytes(socket: WebSocket): number {
  return (socket as { bufferedAmount?: number }).bufferedAmount ?? 0;
}

/** A socket that closed just now throws on use; its close event is on the way and says the rest. */
export function quietly(use: () => void): void {
  try {
    use();
  } catch {
    // See above.
  }
}
