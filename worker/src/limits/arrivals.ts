// The last client to attach to each session. Tells whether a reported end is of the session's current process.

/** Longest delay of a reported end, in which the next process of that name may have started. */
const LATE_END_MS = 10_000;

type Arrival = { readonly connection: string; readonly atMs: number; readonly othersAtMs: number };

export class Arrivals {
  readonly #last = new Map<string, Arrival>();

  came(sessionKey: string, connection: string, nowMs: number): void {
    this.#last.set(sessionKey, { connection, atMs: nowMs, othersAtMs: this.#last.get(sessionKey)?.atMs ?? 0 });
  }

  /**
   * Whether a client may have started another process since the one that has ended.
   * @param startedBy The connection that started the ended one, if known.
   */
  mayHaveBegunAgain(sessionKey: string, startedBy: string | undefined, nowMs: number): boolean {
    const last = this.#last.get(sessionKey);
    if (last === undefined) return false;
    return nowMs < (last.connection === startedBy ? last.othersAtMs : last.atMs) + LATE_END_MS;
  }

  forget(sessionKey: string): void {
    this.#last.delete(sessionKey);
  }
}
