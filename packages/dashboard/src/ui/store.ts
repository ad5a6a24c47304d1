// The state of an object that components observe with useSyncExternalStore.

export class Store<State> {
  readonly #listeners = new Set<() => void>();
  #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** The same object until something changes. */
  readonly getState = (): State => this.#state;

  /** @returns Unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  protected get state(): State {
    return this.#state;
  }

  protected set state(state: State) {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  protected change(change: Partial<State>): void {
    this.state = { ...this.#state, ...change };
  }

  protected forgetListeners(): void {
    this.#listeners.clear();
  }
}
