// Ends connections whose token expires or is revoked, which are idle, or whose client is gone without an event. The caller passes the
// time.

import { CLOSE, Departures, earliest, GHOST_MS, type ServerConnection, type SocketQueue } from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { Pass } from "../attach/entry-limits.ts";
import { idleMsOf, type Limits } from "../limits/limits.ts";
import { IdleWatch, type Idling } from "./idle.ts";
import { type Bounded, Lifetimes } from "./lifetimes.ts";

/** The connections to look at. */
type Watchable = Pick<ServerConnection, "isEnded" | "dismiss">;

/** How a connection is looked at. */
type Look = {
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

/**
 * Finds connections whose client is gone although no event of their socket says so: its upgrade was reset at the wrong moment, or it
 * never answers a close. Looks at the bytes that wait in the sockets; the caller passes the time.
 */
class GoneWatch {
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

/** Whether a connection was warned of its end, and when it was last active. */
export type KeptWatch = { readonly isWarned: boolean; readonly activeAtMs: number };

export class Watches {
  readonly lifetimes = new Lifetimes();
  readonly #idle = new IdleWatch();
  readonly #gone = new GoneWatch();
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * @param spec What was asked for; `canPark`: it may stay while its session sleeps.
   * @param kept Of one whose session has slept.
   */
  add(
    connection: Bounded & Idling,
    {
      who,
      pass,
      limits,
      canPark = false,
    }: Pick<AttachSpec, "who" | "pass" | "limits"> & { readonly canPark?: boolean },
    look: Look,
    kept?: KeptWatch,
  ): void {
    this.lifetimes.add(connection, who, pass, kept?.isWarned);
    this.#idle.add(connection, idleMsOf(this.#limits, limits, canPark), kept?.activeAtMs ?? Date.now());
    this.#gone.add(connection, look);
  }

  /** The kept state of a connection while its session sleeps. */
  keptOf(connection: Bounded & Idling): KeptWatch {
    const { isWarned = false } = this.lifetimes.get(connection) ?? {};
    return { isWarned, activeAtMs: this.#idle.activeAtMs(connection) };
  }

  /** When to look again while the session sleeps; infinity for never. The issuer is asked when it wakes. */
  get nextEndMs(): number {
    return earliest([this.lifetimes.nextEndMs, this.#idle.endMs]);
  }

  /** @returns The pass of a connection that was watched until now, for the caller to release. */
  remove(connection: Bounded & Idling): Pass | undefined {
    this.#idle.remove(connection);
    this.#gone.remove(connection);
    return this.lifetimes.remove(connection)?.pass;
  }

  /** When to look again, as Date.now(); infinity for never. */
  nextTickMs(nowMs: number): number {
    return earliest([this.lifetimes.nextTickMs, this.#idle.nextTickMs(nowMs), this.#gone.nextTickMs(nowMs)]);
  }

  tick(nowMs: number): void {
    this.lifetimes.tick(nowMs);
    this.#idle.tick(nowMs);
    this.#gone.tick(nowMs);
  }
}
