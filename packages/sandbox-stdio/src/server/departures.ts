// Whether messages to a client still leave its socket. Told the bytes sent, the bytes that wait, and the time; knows no socket.

import { GHOST_MS, PLAIN_STALL_MS } from "../wire/constants.ts";

/** Bytes of messages: all that were ever sent, and those of them that have not left the socket. */
export type SocketQueue = { readonly sent: number; readonly waiting: number };

/** `stuck`: nothing has left for {@link PLAIN_STALL_MS}. `never`: nothing ever has, for {@link GHOST_MS} (W11a, W11c). */
export type DepartureVerdict = "moving" | "stuck" | "never";

export class Departures {
  #left = 0;
  /** Since when bytes wait and none has left; undefined while none wait. */
  #stillSinceMs: number | undefined;

  /** To be called now and then; a change between two calls counts from the later one on. */
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
