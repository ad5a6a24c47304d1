// Finds the keys that detach (Ctrl+]) and open the menu (Ctrl+^) in typed input, and passes on everything else. Pure.

import { MENU_KEY } from "./menu.ts";

/** Ctrl+]. */
const DETACH = 0x1d;
const ESC = 0x1b;
/** Bracketed paste: `ESC [ 200 ~` before the text, `ESC [ 201 ~` after it. */
const PASTE_PREFIX = [ESC, 0x5b, 0x32, 0x30] as const;
/** Ctrl+] as `CSI 93 ; 5 u` (kitty) or `CSI 27 ; 5 ; 93 ~` (xterm), without the ESC. Event type 3, a release, does not count. */
const ENCODED_DETACH = /^\[(?:93(?::\d*)*;(\d+)(?::[12])?(?:;[\d:]*)?u|27;(\d+);93~)/;
/** Ctrl+^ likewise; some terminals send Ctrl+6 or Ctrl+Shift+6. */
const ENCODED_MENU = /^\[(?:(?:94|54)(?::\d*)*;(\d+)(?::[12])?(?:;[\d:]*)?u|27;(\d+);(?:94|54)~)$/;
const ENCODED_MAX = 32;
/** Modifiers are encoded as 1 + bits. Caps lock (64) and num lock (128) don't matter. */
const CTRL = 4;
const SHIFT = 1;
const LOCKS = 64 | 128;

export type KeysRead = {
  /** The bytes to send, up to the key that detaches. A view of the chunk. */
  readonly bytes: Uint8Array;
  readonly isDetach: boolean;
};

/** The bytes after Ctrl+^ if a chunk begins with it. A pressed key comes alone or with one more; in a longer chunk it is text. */
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
  /** Matched length of a paste marker, across chunks. Nothing is held back, since a lone ESC is a key. */
  #matched = 0;
  #marker = 0;

  /** @param isOn Whether Ctrl+] detaches. */
  constructor(isOn = true) {
    this.#isOn = isOn;
  }

  read(chunk: Uint8Array): KeysRead {
    if (!this.#isOn) return { bytes: chunk, isDetach: false };
    // A single byte was pressed, not pasted: the way out if a paste marker got lost.
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
