// An unnamed session that its client has left: no client looks for it. It ends if its client does not come back soon (L7a).

import type { SessionRecord, SessionStore } from "../records/session-store.ts";

export class UnnamedSession {
  readonly #store: SessionStore;
  readonly #graceMs: number;

  /** @param graceMs How long its client may take to come back. */
  constructor(store: SessionStore, graceMs: number) {
    this.#store = store;
    this.#graceMs = graceMs;
  }

  /** A client is attached, again perhaps. */
  attached(): void {
    const { record } = this.#store;
    if (record?.desertedAtMs !== undefined) this.#store.record = { ...record, desertedAtMs: undefined };
  }

  /** The last client has closed its connection. @returns Whether the session is to end for it. */
  deserted(nowMs: number): boolean {
    const { record } = this.#store;
    if (record?.isUnnamed !== true || record.exit !== undefined) return false;
    this.#store.record = { ...record, desertedAtMs: nowMs };
    return true;
  }

  /** When it is to end, as Date.now(); infinity if it is not. */
  endMs({ desertedAtMs, exit, lostAtMs }: SessionRecord): number {
    const isOver = exit !== undefined || lostAtMs !== undefined;
    return desertedAtMs === undefined || isOver ? Number.POSITIVE_INFINITY : desertedAtMs + this.#graceMs;
  }
}
