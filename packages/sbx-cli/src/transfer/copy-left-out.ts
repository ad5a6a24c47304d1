// Reports files that a copy skips: a few by a line each. The rest is copied, but the exit code is not 0.

import { oneLine } from "../base/plain-text.ts";
import { notify } from "../base/print.ts";
import { bytesOfPath } from "./copy-path.ts";

const MAX_LINES = 10;

export class SkippedFiles {
  #count = 0;

  get isAny(): boolean {
    return this.#count > 0;
  }

  /** @param name As latin1 bytes. */
  add(name: string, why: string): void {
    this.#count += 1;
    if (this.#count <= MAX_LINES) notify(`skipped: ${oneLine(bytesOfPath(name).toString())}: ${why}`);
  }

  end(): void {
    if (this.#count > MAX_LINES) notify(`skipped: ${this.#count - MAX_LINES} more`);
  }
}
