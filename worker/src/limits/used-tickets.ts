// The tickets of a tenant that count once and belong to no session: which were used, until they would have ended by themselves.

const PREFIX = "used:";

export class UsedTickets {
  readonly #storage: DurableObjectStorage;
  #ends: Promise<Map<string, number>> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** @returns Whether it is used for the first time. That is stored before it is said. */
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
