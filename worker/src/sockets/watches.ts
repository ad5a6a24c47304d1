// Why a connection ends without its client's doing: its token ends or is revoked, it is idle, or its client is gone and no
// event says so. Told the time.

import { earliest } from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { Pass } from "../attach/entry-limits.ts";
import { idleMsOf, type Limits } from "../limits/limits.ts";
import { GoneWatch, type Look } from "./gone-watch.ts";
import { IdleWatch, type Idling } from "./idle.ts";
import { type Bounded, Lifetimes } from "./lifetimes.ts";

/** Of one connection: whether it has been told that its end is near, and when it was active last. */
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

  /** @returns The pass of a connection that was watched until now: its place is to be given back. */
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
