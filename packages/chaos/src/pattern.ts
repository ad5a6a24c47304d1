// The bytes that are sent through a session to be checked: f(n), the byte at offset n. Words of 8 bytes, each of which
// holds its own number, scrambled, and a check: any 15 bytes in a row contain a whole word and so tell where they belong.

/** Which of the streams of a run: each has bytes of its own, so that one is never taken for another. */
export type StreamKey = number;

/** So many bytes in a row always contain a whole word. */
export const LOCATABLE_BYTES = 15;

const WORD_BYTES = 8;

/** Writes the bytes from `offset` on to `target`. Offsets up to 32 GiB. */
export function fill(target: Uint8Array, offset: number, key: StreamKey): void {
  const lead = offset % WORD_BYTES;
  const first = (offset - lead) / WORD_BYTES;
  const count = Math.ceil((lead + target.length) / WORD_BYTES);
  const words = new Uint32Array(count * 2);
  for (let i = 0; i < count; i += 1) {
    const low = scramble((first + i) ^ key);
    words[i * 2] = low;
    words[i * 2 + 1] = checkOf(low, key);
  }
  target.set(new Uint8Array(words.buffer, lead, target.length));
}

/** The bytes from `start` to `end`. */
export function patternBytes(start: number, end: number, key: StreamKey): Uint8Array {
  const bytes = new Uint8Array(end - start);
  fill(bytes, start, key);
  return bytes;
}

/**
 * The offset of `bytes[0]`, going by the first whole word among `bytes`; undefined where there is none. Bytes before that
 * word are not looked at.
 */
export function locate(
  bytes: Uint8Array,
  key: StreamKey,
): { readonly offset: number; readonly wordAt: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + WORD_BYTES <= bytes.length; at += 1) {
    const low = view.getUint32(at, true);
    if (view.getUint32(at + 4, true) !== checkOf(low, key)) continue;
    const offset = ((unscramble(low) ^ key) >>> 0) * WORD_BYTES - at;
    if (offset >= 0) return { offset, wordAt: at };
  }
  return undefined;
}

/** A bijection of 32-bit numbers that leaves no trace of their order (murmur3's finalizer). */
function scramble(n: number): number {
  let x = n;
  x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Undoes {@link scramble}: its multipliers inverted modulo 2^32, its shifts run backwards. */
function unscramble(n: number): number {
  let x = n;
  x = Math.imul(x ^ (x >>> 16), 0x7ed1_b41d);
  x = Math.imul(x ^ (x >>> 13) ^ (x >>> 26), 0xa5cb_9243);
  return (x ^ (x >>> 16)) >>> 0;
}

function checkOf(low: number, key: StreamKey): number {
  return (Math.imul(low ^ key, 0x9e37_79b1) ^ (low >>> 15)) >>> 0;
}
