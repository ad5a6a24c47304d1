// Bytes that can be verified wherever they come: one long line, again and again.

export const LINE = "The quick brown fox jumps over the lazy dog, 0123456789 times in a row.";
const PERIOD = Buffer.from(`${LINE}\n`);
/** As a cooked terminal shows it. */
export const COOKED_PERIOD = Buffer.from(`${LINE}\r\n`);
const REPEATED = repeated(PERIOD);

/**
 * Counts bytes that are the pattern, from its start. It compares and does nothing else for each byte: its speed is a limit to
 * the measurement.
 */
export class Verifier {
  bytes = 0;
  readonly #period: Buffer;
  readonly #repeated: Buffer;

  constructor(period = PERIOD) {
    this.#period = period;
    this.#repeated = repeated(period);
  }

  /** @throws {Error} At the first byte that is not the pattern's. */
  take(chunk: Uint8Array): void {
    for (let done = 0; done < chunk.length; ) {
      const phase = this.bytes % this.#period.length;
      const length = Math.min(chunk.length - done, this.#repeated.length - phase);
      const wanted = this.#repeated.subarray(phase, phase + length);
      if (!wanted.equals(chunk.subarray(done, done + length))) throw new Error(`Wrong byte after ${this.bytes}`);
      this.bytes += length;
      done += length;
    }
  }
}

/** `length` bytes of the pattern. */
/** The script that puts it out on a raw terminal. Where a server ignores SIGPIPE, as ttyd does, `yes` would complain there. */
export function rawPattern(total: number): string {
  return `stty raw; yes '${LINE}' 2>/dev/null | head -c ${total}; sleep 60`;
}

export function patternBytes(length: number): Buffer {
  return Buffer.concat(
    Array.from({ length: Math.ceil(length / REPEATED.length) }, () =>
      REPEATED.subarray(0, PERIOD.length * Math.floor(REPEATED.length / PERIOD.length)),
    ),
  ).subarray(0, length);
}

/** Long enough that a chunk of output compares with one slice of it. */
function repeated(period: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: Math.ceil((1 << 20) / period.length) + 1 }, () => period));
}
