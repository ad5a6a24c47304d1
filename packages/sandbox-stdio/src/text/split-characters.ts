// Splits a stream of UTF-8 so that stock xterm.js loses no character, and delays no byte needlessly. Knows nothing of sessions or
// dialects.

import { cloneBytes, joined, unfinishedBytes } from "./utf8-text.ts";

/** If a write ends inside a character after this byte, xterm.js forgets its state: "…" and "。" can be lost. */
const FORGOTTEN = 0x80;
const NO_BYTES = new Uint8Array(0);

export class SplitCharacters {
  /** The last character while it is incomplete, and how many of its bytes have passed. */
  #begun: Uint8Array = NO_BYTES;
  #passed = 0;
  readonly #isEveryWhole: boolean;

  /** @param isEveryWhole Whether no character may be split, even if xterm.js would not lose it. */
  constructor(isEveryWhole = false) {
    this.#isEveryWhole = isEveryWhole;
  }

  /**
   * @returns The bytes that may be written now: `bytes` itself if none wait or have waited. At most two bytes wait (three if no
   *   character may be split), and only while the next bytes belong to the same character.
   */
  pass(bytes: Uint8Array): Uint8Array {
    const begun = this.#begun;
    const end = begun.length === 0 || bytes.length > 2 ? bytes : joined([begun, bytes]);
    const unfinished = unfinishedBytes(end);
    if (unfinished === 0 && begun.length === 0) return bytes;
    const last = cloneBytes(end.subarray(end.length - unfinished));
    const forgotten = this.#isEveryWhole ? 0 : last.indexOf(FORGOTTEN);
    const waiting = forgotten < 0 ? 0 : unfinished - forgotten;
    const ready = this.#passed === begun.length ? bytes : joined([begun.subarray(this.#passed), bytes]);
    this.#begun = last;
    this.#passed = unfinished - waiting;
    return waiting === 0 ? ready : ready.subarray(0, ready.length - waiting);
  }

  /** Whether no character is incomplete. */
  get isAtRest(): boolean {
    return this.#begun.length === 0;
  }

  /** Returns the waiting bytes, since nothing follows that belongs to them. */
  flush(): Uint8Array {
    const waiting = this.#begun.subarray(this.#passed);
    this.#begun = NO_BYTES;
    this.#passed = 0;
    return waiting;
  }
}
