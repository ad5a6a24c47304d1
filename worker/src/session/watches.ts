// Why a connection ends without its client's doing: its token ends or is revoked, it is idle, or its client is gone and no
// event says so. Told the time.

import { earliest } from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { Pass } from "../limits/entry-limits.ts";
import { idleMsOf, type Limits } from "../limits/limits.ts";
import { GoneWatch, type Look } from "./gone-watch.ts";
import { IdleWatch, type Idling } from "./idle.ts";
import { type Bounded, Lifetimes } from "./lifetimes.ts";

export class Watches {
  readonly lifetimes = new Lifetimes();
  readonly #idle = new IdleWatch();
  readonly #gone = new GoneWatch();
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  add(connection: Bounded & Idling, { who, pass, limits }: AttachSpec, look: Look): void {
    this.lifetimes.add(connection, who, pass);
    this.#idle.add(connection, idleMsOf(this.#limits, limits), Date.now());
    this.#gone.add(connection, look);
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
