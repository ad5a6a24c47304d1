// Bytes that can be verified wherever they come: one long line, again and again.

export const LINE = "The quick brown fox jumps over the lazy dog, 0123456789 times in a row.";
const PERIOD = Buffer.from(`${LINE}\n`);
/** Long enough that a chunk of output compares with one slice of it. */
const REPEATED = Buffer.concat(Array.from({ length: Math.ceil((1 << 20) / PERIOD.length) + 1 }, () => PERIOD));

/** Counts bytes that are the pattern, from its start. */
export class Verifier {
  bytes = 0;

  /** @throws {Error} At the first byte that is not the pattern's. */
  take(chunk: Uint8Array): void {
    for (let done = 0; done < chunk.length; ) {
      const phase = this.bytes % PERIOD.length;
      const length = Math.min(chunk.length - done, REPEATED.length - phase);
      const wanted = REPEATED.subarray(phase, phase + length);
      if (!wanted.equals(chunk.subarray(done, done + length))) throw new Error(`Wrong byte after ${this.bytes}`);
      this.bytes += length;
      done += length;
    }
  }
}

/** `length` bytes of the pattern. */
export function patternBytes(length: number): Buffer {
  return Buffer.concat(
    Array.from({ length: Math.ceil(length / REPEATED.length) }, () =>
      REPEATED.subarray(0, PERIOD.length * Math.floor(REPEATED.length / PERIOD.length)),
    ),
  ).subarray(0, length);
}
