// What a copy does not write here, and why: each in a line, up to a few. It is no failure of the rest, and no success either.

import { oneLine } from "../base/plain-text.ts";
import { aside } from "../base/print.ts";
import { bytesOfPath } from "./copy-path.ts";

const MAX_LINES = 10;

export class LeftOut {
  #count = 0;

  get isAny(): boolean {
    return this.#count > 0;
  }

  /** @param name Of bytes, one a character. */
  add(name: string, why: string): void {
    this.#count += 1;
    if (this.#count <= MAX_LINES) aside(`left out: ${oneLine(bytesOfPath(name).toString())}: ${why}`);
  }

  end(): void {
    if (this.#count > MAX_LINES) aside(`left out: ${this.#count - MAX_LINES} more`);
  }
}
