// Slows the process for clients that keep up but would still be skipped. Many clients in one place are served in turns, so the
// last may be a whole log behind the first: less is read ahead, and the process waits briefly.

import type { OutputLog } from "../output/output-log.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";

/** Longest wait, and how many times the time waited its budget takes to refill. */
const MAX_WAIT_MS = 250;
const RUN_FACTOR = 9;
/** A spent budget must refill to this before the next wait. */
const MIN_WAIT_MS = 50;
/** How often a wait is reconsidered. */
const RECHECK_MS = 25;

/** `throttled`: a client is far behind, so read little ahead. `waiting`: a client would be skipped. */
export type Pressure = "none" | "throttled" | "waiting";

export class Backpressure {
  readonly #log: OutputLog;
  readonly #clients: Clients;
  #pressure: Pressure = "none";
  #savedMs = MAX_WAIT_MS;
  #isSpent = false;
  #updatedAtMs = Number.NEGATIVE_INFINITY;
  /** Cursor of the client furthest behind. */
  #slowestCursor = 0;

  constructor(log: OutputLog, clients: Clients) {
    this.#log = log;
    this.#clients = clients;
  }

  /** As of the last update. */
  get pressure(): Pressure {
    return this.#pressure;
  }

  /** How far the process may be read while it waits. */
  get stopsAt(): number {
    return this.#slowestCursor + (3 * this.#log.capacityBytes) / 4;
  }

  /** Latest time of the next update; undefined unless the process waits. */
  get nextMs(): number | undefined {
    return this.#pressure === "waiting" ? this.#updatedAtMs + Math.min(RECHECK_MS, this.#savedMs) : undefined;
  }

  /** @param flowLeader Undefined if no client paces and none is awaited. */
  update(flowLeader: ClientRecord | undefined, nowMs: number): Pressure {
    this.#charge(nowMs);
    this.#pressure = flowLeader === undefined ? "none" : this.#evaluate(flowLeader, nowMs);
    return this.#pressure;
  }

  #evaluate(flowLeader: ClientRecord, nowMs: number): Pressure {
    const { startOffset, endOffset, capacityBytes } = this.#log;
    const isFarBehind = () => endOffset - this.#slowestCursor > capacityBytes / 2;
    this.#slowestCursor = startOffset;
    if (!isFarBehind()) return "none"; // The log itself is shorter than that.
    this.#slowestCursor = endOffset;
    for (const client of this.#clients.all) {
      const reader = client.greeted?.reader;
      if (reader === undefined || client === flowLeader) continue;
      const { cursor, flow } = reader;
      if (cursor >= startOffset && cursor < this.#slowestCursor && flow.keepsUp(nowMs)) this.#slowestCursor = cursor;
    }
    if (!isFarBehind()) return "none";
    return endOffset >= this.stopsAt && !this.#isSpent ? "waiting" : "throttled";
  }

  /** Charges the time waited since the last update, or refills the budget. */
  #charge(nowMs: number): void {
    const sinceMs = nowMs - this.#updatedAtMs;
    this.#updatedAtMs = nowMs;
    if (this.#pressure === "waiting") this.#savedMs -= sinceMs;
    else this.#savedMs = Math.min(MAX_WAIT_MS, this.#savedMs + sinceMs / RUN_FACTOR);
    if (this.#savedMs <= 0) this.#isSpent = true;
    else if (this.#savedMs >= MIN_WAIT_MS) this.#isSpent = false;
  }
}
