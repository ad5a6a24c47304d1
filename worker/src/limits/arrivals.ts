// Who came to a session last: told from that, whether the news of an end is about the process that the session has now.

/** The news of an end comes so late at most: by then the next process of that name may have begun. */
const LATE_END_MS = 10_000;

type Arrival = { readonly connection: string; readonly atMs: number; readonly othersAtMs: number };

export class Arrivals {
  readonly #last = new Map<string, Arrival>();

  came(sessionKey: string, connection: string, nowMs: number): void {
    this.#last.set(sessionKey, { connection, atMs: nowMs, othersAtMs: this.#last.get(sessionKey)?.atMs ?? 0 });
  }

  /**
   * Whether somebody may have started another process than the one that has ended.
   * @param startedBy The connection that started that one, where it is known.
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
