// Why an attached run ends: queued as it happens.

import type { ClientEnd } from "sandbox-stdio/core";

export type Ending =
  | { readonly kind: "client"; readonly end: ClientEnd }
  | { readonly kind: "detach" }
  /** The time limit of `run` has passed. */
  | { readonly kind: "time" }
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals }
  /** Standard output or standard error can't be written. */
  | { readonly kind: "broken"; readonly error: NodeJS.ErrnoException };

export class Endings {
  readonly #waiting: Ending[] = [];
  #onNext: (() => void) | undefined;

  add(ending: Ending): void {
    this.#waiting.push(ending);
    this.#onNext?.();
  }

  /** The next ending, if there is one. */
  take(): Ending | undefined {
    return this.#waiting.shift();
  }

  async next(): Promise<Ending> {
    for (;;) {
      const ending = this.take();
      if (ending !== undefined) return ending;
      await this.come();
    }
  }

  /** Resolves when there is an ending. */
  async come(): Promise<void> {
    if (this.#waiting.length > 0) return;
    await new Promise<void>((resolve) => {
      this.#onNext = resolve;
    });
  }
}

/** Resolves with the work, or after `ms`. */
export async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
