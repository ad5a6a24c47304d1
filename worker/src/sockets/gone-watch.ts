// Finds connections without a client, where no event of their sockets says so: a client whose upgrade was reset in the wrong
// moment, one that never answers a close. Told the time; looks at the bytes that wait in their sockets.

import { CLOSE, Departures, GHOST_MS, type ServerConnection, type SocketQueue } from "sandbox-stdio/core";

/** The connections to look at. */
export type Watchable = Pick<ServerConnection, "isEnded" | "dismiss">;

/** How a connection is looked at. */
export type Look = {
  /** Whether what waits in its socket is looked at while it lasts; else only once it is to end. */
  readonly isLookedAt: boolean;
  readonly queue: () => SocketQueue | undefined;
  /** Removes it, as the event that never came would have. */
  readonly gone: () => void;
};

type Watched = Look & {
  readonly departures: Departures;
  /** Since when it is ended and its socket neither says so nor moves. */
  endedSinceMs: number | undefined;
  left: number;
};

const LOOK_MS = 2_000;

export class GoneWatch {
  readonly #watched = new Map<Watchable, Watched>();

  add(connection: Watchable, look: Look): void {
    this.#watched.set(connection, { ...look, departures: new Departures(), endedSinceMs: undefined, left: 0 });
  }

  remove(connection: Watchable): void {
    this.#watched.delete(connection);
  }

  /** When to look again; infinity for never. */
  nextTickMs(nowMs: number): number {
    for (const [{ isEnded }, { isLookedAt }] of this.#watched) if (isLookedAt || isEnded) return nowMs + LOOK_MS;
    return Number.POSITIVE_INFINITY;
  }

  tick(nowMs: number): void {
    for (const [connection, watched] of [...this.#watched]) {
      const queue = watched.queue();
      if (watched.isLookedAt && queue !== undefined) {
        const verdict = watched.departures.look(queue, nowMs);
        if (verdict !== "moving")
          connection.dismiss(CLOSE.internal, "the client can't be written to", "now", "vanished");
        if (verdict === "never") watched.gone();
      }
      if (connection.isEnded && this.#isSettled(watched, queue, nowMs)) watched.gone();
    }
  }

  /** Whether an ended connection has had its time for the close to be answered, since the last of its bytes left. */
  #isSettled(watched: Watched, queue: SocketQueue | undefined, nowMs: number): boolean {
    const left = queue === undefined ? 0 : queue.sent - queue.waiting;
    if (left !== watched.left || watched.endedSinceMs === undefined) watched.endedSinceMs = nowMs;
    watched.left = left;
    return watched.endedSinceMs + GHOST_MS <= nowMs;
  }
}
