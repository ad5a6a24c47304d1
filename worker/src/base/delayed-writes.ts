// An object's memory, stored a moment later and all at once: no caller waits for the disk, and a value that comes and
// goes in between is never written. A crash loses that moment.

const DELAY_MS = 500;
/** The storage takes so many keys at a time. */
const MAX_KEYS = 128;

export class DelayedWrites {
  readonly #storage: DurableObjectStorage;
  readonly #delayMs: number;
  /** undefined: to be deleted. */
  readonly #pending = new Map<string, unknown>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param delayMs How long a remembered value waits for more. */
  constructor(storage: DurableObjectStorage, delayMs = DELAY_MS) {
    this.#storage = storage;
    this.#delayMs = delayMs;
  }

  put(key: string, value: unknown): void {
    this.#pending.set(key, value);
    // An object with a timer is not put to sleep before it has fired.
    this.#timer ??= setTimeout(() => this.#flush(), this.#delayMs);
  }

  delete(key: string): void {
    this.put(key, undefined);
  }

  #flush(): void {
    this.#timer = undefined;
    const entries = [...this.#pending];
    this.#pending.clear();
    const unconfirmed = { allowUnconfirmed: true };
    for (let i = 0; i < entries.length; i += MAX_KEYS) {
      const part = entries.slice(i, i + MAX_KEYS);
      const written = part.filter(([, value]) => value !== undefined);
      if (written.length > 0) void this.#storage.put(Object.fromEntries(written), unconfirmed);
      const deleted = part.filter(([, value]) => value === undefined).map(([key]) => key);
      if (deleted.length > 0) void this.#storage.delete(deleted, unconfirmed);
    }
  }
}
