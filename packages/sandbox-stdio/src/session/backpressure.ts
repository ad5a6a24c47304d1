// What the process does for clients that keep up, and are about to be skipped all the same: many clients at one place are served in
// turns, and the last of a turn may be a whole log behind the first. It is read ahead less for their sake, and waits a little.

import type { OutputLog } from "../output/output-log.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";

/** The longest wait. It is saved up: the process runs so many times as long as it waited, or waits less. */
const MOST_WAIT_MS = 250;
const RUN_FACTOR = 9;
/** Once all is spent, so much is saved up before the next wait. */
const LEAST_WAIT_MS = 50;
/** How often to look, while it waits, whether it is still worth it. */
const LOOK_MS = 25;

/** `throttled`: a client is so far behind that little should be read ahead. `waiting`: one would be skipped. */
export type Pressure = "none" | "throttled" | "waiting";

export class Backpressure {
  readonly #log: OutputLog;
  readonly #clients: Clients;
  #pressure: Pressure = "none";
  #savedMs = MOST_WAIT_MS;
  #isSpent = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Where the client stands that is furthest behind. */
  #hindmost = 0;

  constructor(log: OutputLog, clients: Clients) {
    this.#log = log;
    this.#clients = clients;
  }

  /** As of the last look. */
  get pressure(): Pressure {
    return this.#pressure;
  }

  /** Up to where the process may be read while it waits. */
  get stopsAt(): number {
    return this.#hindmost + (3 * this.#log.capacityBytes) / 4;
  }

  /** When to look again at the latest; undefined unless the process waits. */
  get nextMs(): number | undefined {
    return this.#pressure === "waiting" ? this.#lookedAtMs + Math.min(LOOK_MS, this.#savedMs) : undefined;
  }

  /** @param flowLeader The client that sets the pace; undefined: nobody does, and nobody is waited for. */
  update(flowLeader: ClientRecord | undefined, nowMs: number): Pressure {
    this.#count(nowMs);
    this.#pressure = flowLeader === undefined ? "none" : this.#judge(flowLeader, nowMs);
    return this.#pressure;
  }

  #judge(flowLeader: ClientRecord, nowMs: number): Pressure {
    const { startOffset, endOffset, capacityBytes } = this.#log;
    const isFarBehind = () => endOffset - this.#hindmost > capacityBytes / 2;
    this.#hindmost = startOffset;
    if (!isFarBehind()) return "none"; // Nobody can be so far behind.
    this.#hindmost = endOffset;
    for (const client of this.#clients.all) {
      const reader = client.greeted?.reader;
      if (reader === undefined || client === flowLeader) continue;
      const { cursor, flow } = reader;
      if (cursor >= startOffset && cursor < this.#hindmost && flow.keepsUp(nowMs)) this.#hindmost = cursor;
    }
    if (!isFarBehind()) return "none";
    return endOffset >= this.stopsAt && !this.#isSpent ? "waiting" : "throttled";
  }

  /** What was waited since the last look is spent, or, if nothing was, some is saved up. */
  #count(nowMs: number): void {
    const sinceMs = nowMs - this.#lookedAtMs;
    this.#lookedAtMs = nowMs;
    if (this.#pressure === "waiting") this.#savedMs -= sinceMs;
    else this.#savedMs = Math.min(MOST_WAIT_MS, this.#savedMs + sinceMs / RUN_FACTOR);
    if (this.#savedMs <= 0) this.#isSpent = true;
    else if (this.#savedMs >= LEAST_WAIT_MS) this.#isSpent = false;
  }
}
