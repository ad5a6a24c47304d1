// Formats a program's input for people: its end, with a symbol for each key that can't be shown. Pure.

import { decodeUtf8 } from "../text/utf8-text.ts";

/** Most characters shown, from the end. */
const MAX_TYPED_CHARACTERS = 80;
/** How many bytes at the end are examined. */
const LOOKED_AT_BYTES = 1_024;
const DEL = 0x7f;
const SIGNS: Readonly<Record<string, string>> = { "\r": "⏎", "\n": "⏎", "\t": "⇥", "\u001b": "⎋", "\u007f": "⌫" };

export function typedText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes.subarray(Math.max(0, bytes.length - LOOKED_AT_BYTES)));
  const shown = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    if (SIGNS[character] !== undefined) return SIGNS[character];
    if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
    // Omit characters that move a cursor, hide, or change the direction of text.
    return code === DEL || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character) ? "" : character;
  });
  return shown.slice(-MAX_TYPED_CHARACTERS).join("");
}
