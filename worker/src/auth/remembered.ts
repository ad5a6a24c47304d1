// Answers about tokens that are believed for a while, in the isolate's memory. Keys are hashes, so that no usable token lies in it.

import { hash } from "node:crypto";

/** About 1 MB with long answers. When it is full the oldest goes: that token is asked about again. */
export const CAPACITY = 1000;

export class Remembered<T> {
  readonly #answers = new Map<string, { readonly answer: T; readonly untilMs: number }>();

  /** @param about All that the answer depends on, the token among it. */
  static keyOf(about: readonly unknown[]): string {
    return hash("sha256", JSON.stringify(about));
  }

  /** What is still believed. */
  get(key: string): { readonly answer: T; readonly untilMs: number } | undefined {
    const known = this.#answers.get(key);
    if (known === undefined || Date.now() < known.untilMs) return known;
    this.#answers.delete(key);
    return undefined;
  }

  /** @param untilMs As Date.now(). */
  set(key: string, answer: T, untilMs: number): void {
    if (this.#answers.size >= CAPACITY) {
      for (const oldest of this.#answers.keys()) {
        this.#answers.delete(oldest);
        break;
      }
    }
    this.#answers.set(key, { answer, untilMs });
  }
}
