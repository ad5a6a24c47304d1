// What the issuer remembers between two requests. In memory only, and bounded.
import type { Adapter, AdapterPayload } from "oidc-provider";

/** Most entries of one kind; the oldest go first. A local issuer never gets near it, a runaway client might. */
const MAX_ENTRIES = 10_000;

export type Entries = Map<string, AdapterPayload>;

/** Keeps `value`, and forgets the oldest where there are too many. */
export function remember<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  const oldest = entries.keys().next();
  if (entries.size >= MAX_ENTRIES && !oldest.done) entries.delete(oldest.value);
  entries.set(key, value);
}

export class MemoryAdapter implements Adapter {
  /** By what {@link keyOf} makes of their ids. */
  protected entries: Entries = new Map();

  protected keyOf(id: string): string {
    return id;
  }

  /** Called after each change. */
  protected changed: () => void = () => undefined;

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    remember(this.entries, this.keyOf(id), payload);
    this.changed();
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.entries.get(this.keyOf(id));
  }

  findByUid = (uid: string) => this.#findBy((payload) => payload.uid === uid);
  findByUserCode = (userCode: string) => this.#findBy((payload) => payload.userCode === userCode);

  async consume(id: string): Promise<void> {
    const entry = this.entries.get(this.keyOf(id));
    if (entry !== undefined) entry.consumed = Math.floor(Date.now() / 1000);
    this.changed();
  }

  async destroy(id: string): Promise<void> {
    this.entries.delete(this.keyOf(id));
    this.changed();
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, payload] of this.entries) if (payload.grantId === grantId) this.entries.delete(id);
    this.changed();
  }

  async #findBy(fits: (payload: AdapterPayload) => boolean): Promise<AdapterPayload | undefined> {
    return [...this.entries.values()].find(fits);
  }
}
