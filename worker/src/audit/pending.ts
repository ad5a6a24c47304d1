// Events and input that wait to be stored, and their form as records: events as they are, input of one batch as one of them.

import type { InputBatch } from "./input-batch.ts";
import type { Actor, AuditEvent, Place } from "./record.ts";

export type Pending =
  | AuditEvent
  | { readonly time: string; readonly batch: InputBatch; readonly who: Partial<Actor> & Partial<Place> };

/** All that waits, in order. */
export class Waiting {
  #all: Pending[] = [];
  #inputBytes = 0;
  /** So much is stored at once, so that no client whose input is here need wait for the clock. */
  #enoughBytes = Number.POSITIVE_INFINITY;

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  get last(): Pending | undefined {
    return this.#all.at(-1);
  }

  push(pending: Pending): void {
    this.#all.push(pending);
  }

  /** To be called only if there is one. */
  replaceLast(pending: Pending): void {
    this.#all[this.#all.length - 1] = pending;
  }

  /** Input is here, of a client that may send `windowBytes`: it sends the other half while the first is stored. */
  count(bytes: number, windowBytes: number): void {
    this.#inputBytes += bytes;
    this.#enoughBytes = Math.min(this.#enoughBytes, windowBytes / 2);
  }

  /** A transaction costs about the same whatever its size. */
  get isEnough(): boolean {
    return this.#inputBytes >= this.#enoughBytes;
  }

  take(): readonly Pending[] {
    const all = this.#all;
    this.#all = [];
    this.#inputBytes = 0;
    this.#enoughBytes = Number.POSITIVE_INFINITY;
    return all;
  }
}

/** The events of all that waits, and how far each client's counted input goes in them. Ends their batches. */
export function finished(waiting: readonly Pending[]): { events: AuditEvent[]; inputEnds: Map<string, number> } {
  const events: AuditEvent[] = [];
  const inputEnds = new Map<string, number>();
  for (const pending of waiting) {
    if ("batch" in pending) {
      const { time, batch, who } = pending;
      events.push({ time, ...who, client: batch.client, ...batch.finish() });
      if (batch.pane === undefined) inputEnds.set(batch.client, batch.end);
      continue;
    }
    events.push(pending);
    const { client } = pending;
    if (pending.type !== "input" || !pending.refused || client === undefined || pending.pane !== undefined) continue;
    inputEnds.set(client, Math.max(inputEnds.get(client) ?? 0, pending.offset + pending.length));
  }
  return { events, inputEnds };
}
