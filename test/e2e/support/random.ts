// Bytes that look random and are the same for the same seed.

/** xorshift32: fast, and good enough that no run of bytes repeats soon. */
export function seededBytes(length: number, seed: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  let state = seed | 1;
  for (let i = 0; i < words.length; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return Buffer.from(words.buffer, 0, length);
}
