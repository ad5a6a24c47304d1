// What a person has chosen for every page of theirs in this browser. Kept as JSON under one name; what can't be read is as if
// it had never been chosen.

export type Preferences = {
  /** Whether a screen reader follows the output. */
  readonly isReader: boolean;
  /** Whether the browser asks before it closes a page in which somebody has typed into a process that still runs. */
  readonly warnsOnClose: boolean;
};

export const DEFAULT_PREFERENCES: Preferences = { isReader: false, warnsOnClose: true };

const NAME = "sbx.preferences";

export class PreferenceStore {
  readonly #storage: Pick<Storage, "getItem" | "setItem"> | undefined;
  readonly #listeners = new Set<() => void>();
  #preferences: Preferences;

  /** @param storage localStorage, or undefined where the browser refuses it: then they last as long as the page. */
  constructor(storage: Pick<Storage, "getItem" | "setItem"> | undefined) {
    this.#storage = storage;
    this.#preferences = read(storage?.getItem(NAME) ?? null);
  }

  /** The same object until something changes. */
  readonly get = (): Preferences => this.#preferences;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(change: Partial<Preferences>): void {
    this.#preferences = { ...this.#preferences, ...change };
    this.#storage?.setItem(NAME, JSON.stringify(this.#preferences));
    for (const listener of this.#listeners) listener();
  }
}

function read(text: string | null): Preferences {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "{}");
  } catch {
    // Not ours, or of another version.
    kept = {};
  }
  const of = (name: keyof Preferences): boolean => {
    const value: unknown = typeof kept === "object" && kept !== null ? Reflect.get(kept, name) : undefined;
    return typeof value === "boolean" ? value : DEFAULT_PREFERENCES[name];
  };
  return { isReader: of("isReader"), warnsOnClose: of("warnsOnClose") };
}

/** localStorage, where the browser lets a page have it. */
export function localStorageIfAllowed(): Storage | undefined {
  try {
    return window.localStorage;
  } catch {
    // SecurityError: storage is blocked for this site.
    return undefined;
  }
}
