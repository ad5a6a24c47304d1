// Finds connections that have been idle for too long: no input, no output, no change of size. Told the time; it looks now and
// then at what a connection counts, so that nothing is done for a frame.

import { CLOSE, type ServerConnection } from "sandbox-stdio/core";

/** A connection that can be idle: a client's to a session, or one that is passed on to another program. */
export type Idling = Pick<ServerConnection, "activity" | "isEnded" | "dismiss">;

type Watched = { readonly idleMs: number; activity: number; activeAtMs: number };

/** Checks per idle timeout: a connection is closed at most one interval late, and never early. */
const LOOKS = 30;

export class IdleWatch {
  readonly #watched = new Map<Idling, Watched>();

  /** @param activeAtMs When it was active last. */
  add(connection: Idling, idleMs: number, activeAtMs: number): void {
    this.#watched.set(connection, { idleMs, activity: connection.activity, activeAtMs });
  }

  /** When it was active last, as far as was looked. */
  activeAtMs(connection: Idling): number {
    return this.#watched.get(connection)?.activeAtMs ?? 0;
  }

  /** When the first of them is idle, if none is active until then. */
  get endMs(): number {
    let end = Number.POSITIVE_INFINITY;
    for (const { activeAtMs, idleMs } of this.#watched.values()) end = Math.min(end, activeAtMs + idleMs);
    return end;
  }

  remove(connection: Idling): void {
    this.#watched.delete(connection);
  }

  /** When to look again; infinity for never. */
  nextTickMs(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [connection, { idleMs, activeAtMs }] of this.#watched) {
      if (connection.isEnded) continue;
      next = Math.min(next, activeAtMs + idleMs, nowMs + idleMs / LOOKS);
    }
    return next;
  }

  tick(nowMs: number): void {
    for (const [connection, watched] of [...this.#watched]) {
      if (connection.activity !== watched.activity) {
        watched.activity = connection.activity;
        watched.activeAtMs = nowMs;
      } else if (watched.activeAtMs + watched.idleMs <= nowMs) {
        this.#watched.delete(connection);
        connection.dismiss(CLOSE.idle, `idle for ${watched.idleMs / 1000} s`, "never", "vanished");
      }
    }
  }
}
