// Reads a person's keys: finds the key that detaches, Ctrl+], and the one that opens the menu, Ctrl+^, and leaves
// everything else as it is. Pure.

import { MENU_KEY } from "./menu.ts";

/** Ctrl+]. */
const DETACH = 0x1d;
const ESC = 0x1b;
/** The marks that a terminal puts around pasted text if the application asked for them: `ESC [ 200 ~` and `ESC [ 201 ~`. */
const PASTE_PREFIX = [ESC, 0x5b, 0x32, 0x30] as const;
/**
 * Ctrl+] from a terminal whose application asked for unambiguous keys: `CSI 93 ; 5 u` (kitty), `CSI 27 ; 5 ; 93 ~`
 * (xterm), without the ESC. A key's release, event type 3, is no press.
 */
const ENCODED_DETACH = /^\[(?:93(?::\d*)*;(\d+)(?::[12])?(?:;[\d:]*)?u|27;(\d+);93~)/;
/** The same for Ctrl+^, which some send as Ctrl+6 or Ctrl+Shift+6. */
const ENCODED_MENU = /^\[(?:(?:94|54)(?::\d*)*;(\d+)(?::[12])?(?:;[\d:]*)?u|27;(\d+);(?:94|54)~)$/;
const ENCODED_MAX = 32;
/** Modifiers are sent as 1 + bits: ctrl is 4; caps lock 64 and num lock 128 say nothing. */
const CTRL = 4;
const SHIFT = 1;
const LOCKS = 64 | 128;

export type KeysRead = {
  /** The bytes to send: all before the key that detaches, if it is there. A view of the chunk. */
  readonly bytes: Uint8Array;
  readonly isDetach: boolean;
};

/**
 * The bytes after Ctrl+^ if a chunk begins with it: a pressed key comes alone, or with the next key at most.
 * Anywhere else the byte is text like any other.
 */
export function readMenuKey(chunk: Uint8Array): Uint8Array | undefined {
  if (chunk[0] === MENU_KEY && chunk.length <= 2) return chunk.subarray(1);
  if (chunk[0] !== ESC || chunk.length > ENCODED_MAX) return undefined;
  const match = ENCODED_MENU.exec(String.fromCharCode(...chunk.subarray(1)));
  if (match === null) return undefined;
  const modifiers = (Number(match[1] ?? match[2]) - 1) & ~LOCKS;
  return (modifiers & ~SHIFT) === CTRL ? chunk.subarray(chunk.length) : undefined;
}

export class KeyReader {
  readonly #isOn: boolean;
  #isPasting = false;
  /** How much of a paste marker has been seen, across chunks: nothing is held back, a lone ESC is a key of its own. */
  #matched = 0;
  #marker = 0;

  /** @param isOn Whether there is such a key: else all is left as it is. */
  constructor(isOn = true) {
    this.#isOn = isOn;
  }

  read(chunk: Uint8Array): KeysRead {
    if (!this.#isOn) return { bytes: chunk, isDetach: false };
    // A byte that comes alone was pressed, not pasted: the way out if the end of a paste never came.
    if (chunk.length === 1 && chunk[0] === DETACH) return { bytes: chunk.subarray(0, 0), isDetach: true };
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] ?? 0;
      if (!this.#isPasting && (byte === DETACH || (byte === ESC && isEncodedDetach(chunk, i)))) {
        return { bytes: chunk.subarray(0, i), isDetach: true };
      }
      this.#follow(byte);
    }
    return { bytes: chunk, isDetach: false };
  }

  #follow(byte: number): void {
    if (this.#matched < PASTE_PREFIX.length) {
      if (byte === PASTE_PREFIX[this.#matched]) this.#matched += 1;
      else this.#matched = byte === ESC ? 1 : 0;
    } else if (this.#matched === PASTE_PREFIX.length && (byte === 0x30 || byte === 0x31)) {
      this.#marker = byte;
      this.#matched += 1;
    } else {
      if (this.#matched > PASTE_PREFIX.length && byte === 0x7e) this.#isPasting = this.#marker === 0x30;
      this.#matched = byte === ESC ? 1 : 0;
    }
  }
}

function isEncodedDetach(chunk: Uint8Array, at: number): boolean {
  const text = String.fromCharCode(...chunk.subarray(at + 1, at + ENCODED_MAX));
  const match = ENCODED_DETACH.exec(text);
  if (match === null) return false;
  const modifiers = Number(match[1] ?? match[2]) - 1;
  return (modifiers & ~LOCKS) === CTRL;
}
