// A program's input, in words for people who look on: the last of it, with a sign for each key that can't be shown. Pure.

import { decodeUtf8 } from "../text/utf8-text.ts";

/** Characters; earlier ones are not shown. */
const MAX_TYPED_CHARACTERS = 80;
/** So many bytes at the end are looked at. */
const LOOKED_AT_BYTES = 1_024;
const DEL = 0x7f;
const SIGNS: Readonly<Record<string, string>> = { "\r": "⏎", "\n": "⏎", "\t": "⇥", "\u001b": "⎋", "\u007f": "⌫" };

export function typedText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes.subarray(Math.max(0, bytes.length - LOOKED_AT_BYTES)));
  const shown = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    if (SIGNS[character] !== undefined) return SIGNS[character];
    if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
    // Leaves out characters that move a cursor, hide, or turn the direction of text.
    return code === DEL || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character) ? "" : character;
  });
  return shown.slice(-MAX_TYPED_CHARACTERS).join("");
}
