// Converts between bytes and text for dialects without binary frames: splits a stream only between characters, and replaces
// invalid UTF-8 by U+FFFD. Every runtime has both coders.

declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (
  label: string,
  options: { ignoreBOM: boolean; fatal?: boolean },
) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
/** A byte order mark is ordinary output. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Whether `text`, decoded from these bytes, has a U+FFFD for invalid UTF-8, and not just one that was in the bytes. */
export function isLossy(text: string, bytes: Uint8Array): boolean {
  if (!text.includes("\ufffd")) return false;
  try {
    strictDecoder.decode(bytes);
    return false;
  } catch {
    return true; // A strict decoder throws only on invalid bytes.
  }
}

/**
 * Appends `bytes` to the `tail` of the last call and splits off an incomplete character.
 * @returns `whole`, a view of `bytes` if there was no tail; `tail`, at most three bytes, in new memory.
 */
export function splitUtf8(tail: Uint8Array, bytes: Uint8Array): { whole: Uint8Array; tail: Uint8Array } {
  const all = tail.length === 0 ? bytes : joined([tail, bytes]);
  const cut = all.length - unfinishedBytes(all);
  return { whole: all.subarray(0, cut), tail: cloneBytes(all.subarray(cut)) };
}

/** How many bytes at the end begin a character that may still be completed. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0x80 && byte < 0xc0) continue;
    const length = byte < 0xc2 || byte > 0xf4 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > back ? back : 0;
  }
  return 0;
}

/** Joins the pieces in new memory. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A copy in new memory. Its slice would be a view of the same memory for a Buffer, which Node and Bun pass around. */
export function cloneBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/** Length of `text` in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    // Each half of a surrogate pair adds one: four bytes for two units.
    else if (unit >= 0xd800 && unit <= 0xdfff) length += isPairAt(text, i) ? 1 : 2;
    else length += 2;
  }
  return length;
}

/** The longest prefix of `text` of at most `maxBytes` bytes. */
export function clipUtf8(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let clipped = "";
  let length = 0;
  for (const character of text) {
    length += utf8Length(character);
    if (length > maxBytes) break;
    clipped += character;
  }
  return clipped;
}

function isPairAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const isHigh = unit < 0xdc00;
  const other = text.charCodeAt(isHigh ? at + 1 : at - 1);
  return isHigh ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
}
