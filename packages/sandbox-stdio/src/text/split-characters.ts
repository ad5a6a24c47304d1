// Cuts a stream of UTF-8 so that stock xterm.js loses no character of it, and holds back no byte without need. Knows nothing
// of sessions or dialects.

import { joined, unfinishedBytes } from "./utf8-text.ts";

/** Where a write ends within a character behind this byte, xterm.js forgets how far it was: "…" and "。" can be lost. */
const FORGOTTEN = 0x80;
const NO_BYTES = new Uint8Array(0);

export class SplitCharacters {
  /** The last character, while it is not whole, and how many of its bytes have been let through. */
  #begun: Uint8Array = NO_BYTES;
  #passed = 0;
  readonly #isEveryWhole: boolean;

  /** @param isEveryWhole Whether a character that is not lost must not be cut either. */
  constructor(isEveryWhole = false) {
    this.#isEveryWhole = isEveryWhole;
  }

  /**
   * @returns The bytes that may be written now: `bytes` itself if none wait or have waited. At most two bytes wait, or
   *   three of a character that must not be cut. They go on waiting only while the next bytes still belong to the
   *   same character.
   */
  pass(bytes: Uint8Array): Uint8Array {
    const begun = this.#begun;
    const end = begun.length === 0 || bytes.length > 2 ? bytes : joined([begun, bytes]);
    const unfinished = unfinishedBytes(end);
    if (unfinished === 0 && begun.length === 0) return bytes;
    const last = end.slice(end.length - unfinished);
    const forgotten = this.#isEveryWhole ? 0 : last.indexOf(FORGOTTEN);
    const waiting = forgotten < 0 ? 0 : unfinished - forgotten;
    const ready = this.#passed === begun.length ? bytes : joined([begun.subarray(this.#passed), bytes]);
    this.#begun = last;
    this.#passed = unfinished - waiting;
    return waiting === 0 ? ready : ready.subarray(0, ready.length - waiting);
  }

  /** Whether no character is begun. */
  get isAtRest(): boolean {
    return this.#begun.length === 0;
  }

  /** The waiting bytes, since nothing that belongs to them will follow. */
  flush(): Uint8Array {
    const waiting = this.#begun.subarray(this.#passed);
    this.#begun = NO_BYTES;
    this.#passed = 0;
    return waiting;
  }
}
