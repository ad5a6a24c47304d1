// Detects whether messages to a client still leave its socket, from bytes sent, bytes waiting and the time. Knows no socket.

import { GHOST_MS, PLAIN_STALL_MS } from "../wire/constants.ts";

/** Bytes of messages: ever sent, and of these not yet out of the socket. */
export type SocketQueue = { readonly sent: number; readonly waiting: number };

/** `stuck`: nothing has left for {@link PLAIN_STALL_MS}. `never`: nothing ever has, for {@link GHOST_MS} (W11a, W11c). */
export type DepartureVerdict = "moving" | "stuck" | "never";

export class Departures {
  #left = 0;
  /** Since when bytes have been waiting and none have left; undefined if none wait. */
  #stillSinceMs: number | undefined;

  /** Call periodically; a change between two calls counts from the later one. */
  look({ sent, waiting }: SocketQueue, nowMs: number): DepartureVerdict {
    const left = sent - waiting;
    const hasMoved = left > this.#left;
    this.#left = Math.max(this.#left, left);
    if (waiting === 0) {
      this.#stillSinceMs = undefined;
      return "moving";
    }
    if (hasMoved || this.#stillSinceMs === undefined) this.#stillSinceMs = nowMs;
    const stillMs = nowMs - this.#stillSinceMs;
    if (this.#left === 0 && stillMs >= GHOST_MS) return "never";
    return stillMs >= PLAIN_STALL_MS ? "stuck" : "moving";
  }
}
