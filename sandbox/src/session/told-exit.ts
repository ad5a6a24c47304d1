// Whether somebody was told how a process ended: until then its bridge is needed.

export class ToldExit {
  /** Resolves once somebody was told. */
  readonly told: Promise<void>;
  readonly #resolve: () => void;
  #atMs: number | undefined;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.told = promise;
    this.#resolve = resolve;
  }

  /** By the clock of `performance`; undefined before that. */
  get atMs(): number | undefined {
    return this.#atMs;
  }

  /** Somebody is, or nobody can be any more. */
  tell(): void {
    this.#atMs ??= performance.now();
    this.#resolve();
  }
}
