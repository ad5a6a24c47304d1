// Events and input that wait to be stored, and when they are: once due, between two keys, and never later than they may be.

import type { InputBatch } from "./input-batch.ts";
import type { Actor, AuditEvent, Place } from "./record.ts";

/** Events wait this long for more, and input is quiet after it: longer than an echo takes. */
export const GATHER_MS = 10;

export class Gathering {
  readonly #store: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  /** As Date.now(): when input last came, and when the waiting events are due, and at the latest. */
  #inputAtMs = 0;
  #dueMs = Number.POSITIVE_INFINITY;
  #latestMs = Number.POSITIVE_INFINITY;

  /** @param store Stores the waiting events, and calls {@link clear}; or can't yet. */
  constructor(store: () => void) {
    this.#store = store;
  }

  /** Whether what waits can't wait any longer. */
  get isLate(): boolean {
    return this.#latestMs <= Date.now();
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Something waits. @param gatherMs How long, for more. @param withinMs At the latest, while input comes. */
  wait(gatherMs: number, withinMs = gatherMs): void {
    const nowMs = Date.now();
    this.#dueMs = Math.min(this.#dueMs, nowMs + gatherMs);
    this.#latestMs = Math.min(this.#latestMs, nowMs + withinMs);
    this.#lookAt(this.#dueMs, nowMs);
  }

  /** Input has come: an echo is on its way, and nothing else is done while a batch is being stored. */
  heard(): void {
    this.#inputAtMs = Date.now();
  }

  /** Output has come, the echo of the last input perhaps: what is due is stored right behind it, before the next key. */
  answered(): void {
    const nowMs = Date.now();
    if (this.#timer === undefined || this.#dueMs > nowMs) return;
    this.#inputAtMs = 0;
    this.#lookAt(nowMs, nowMs);
  }

  /** The remaining events wait from now on: not for their own time alone, so that little is stored right after something else. */
  again(): void {
    const nowMs = Date.now();
    this.#lookAt(Math.max(this.#dueMs, nowMs + GATHER_MS), nowMs);
  }

  /** Nothing waits any more. */
  clear(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#latestMs = Number.POSITIVE_INFINITY;
  }

  #lookAt(atMs: number, nowMs: number): void {
    if (atMs >= this.#timerAtMs) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, atMs - nowMs));
  }

  #look(): void {
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = Date.now();
    const atMs = Math.min(Math.max(this.#dueMs, this.#inputAtMs + GATHER_MS), this.#latestMs);
    // More than that it can be only where the clock was set back.
    if (atMs > nowMs && atMs <= nowMs + GATHER_MS) this.#lookAt(atMs, nowMs);
    else this.#store();
  }
}

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
