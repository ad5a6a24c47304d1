// Which of a tenant's one-time tickets, other than those for sessions, were used. Each is kept until it would have expired.

const PREFIX = "used:";

export class UsedTickets {
  readonly #storage: DurableObjectStorage;
  #ends: Promise<Map<string, number>> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** @returns Whether this is the first use, which is stored first. */
  async use(id: string, untilMs: number, nowMs: number): Promise<boolean> {
    this.#ends ??= this.#storage.list<number>({ prefix: PREFIX });
    const ends = await this.#ends;
    const past = [...ends].filter(([, endMs]) => endMs <= nowMs).map(([key]) => key);
    for (const key of past) ends.delete(key);
    if (past.length > 0) await this.#storage.delete(past.slice(0, 128));
    const key = PREFIX + id;
    if (ends.has(key)) return false;
    ends.set(key, untilMs);
    await this.#storage.put(key, untilMs);
    return true;
  }
}
