// Bytes of a server's standard output as lines of JSON. A line that is no JSON object is passed over: servers print such lines.

/** Bytes of one message, in either direction. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

export type Line = {
  readonly text: string;
  readonly message: Readonly<Record<string, unknown>>;
  /** Bytes of standard output up to the end of this line. */
  readonly end: number;
};

const NEWLINE = 0x0a;

export class JsonLines {
  readonly #decoder = new TextDecoder();
  #pieces: Uint8Array[] = [];
  #length = 0;
  #end: number;

  /** @param end How many bytes have come before. @param partial The unfinished line among them; kept, not copied. */
  constructor(end = 0, partial: readonly Uint8Array[] = []) {
    this.#end = end;
    this.#pieces = [...partial];
    this.#length = partial.reduce((sum, { length }) => sum + length, 0);
  }

  /** The unfinished line. */
  get partial(): readonly Uint8Array[] {
    return this.#pieces;
  }

  /** Bytes of standard output that have come. */
  get end(): number {
    return this.#end;
  }

  /** Bytes of standard output before the unfinished line. */
  get lineStart(): number {
    return this.#end - this.#length;
  }

  /** Whether a line is longer than a message may be: nothing that follows can be told apart. */
  get isTooLong(): boolean {
    return this.#length > MAX_MESSAGE_BYTES;
  }

  /** Takes bytes, which it keeps. @returns The messages that they complete. */
  push(bytes: Uint8Array): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#keep(bytes.subarray(from, at));
      from = at + 1;
      if (this.isTooLong) return lines;
      const line = this.#finish();
      if (line !== undefined) lines.push(line);
    }
    this.#keep(bytes.subarray(from));
    return lines;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#end += piece.length;
  }

  /** At its line end. */
  #finish(): Line | undefined {
    this.#end += 1;
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [];
    this.#length = 0;
    // An event has no line ends; in JSON they are never inside a string.
    const text = this.#decoder.decode(whole).trim().replaceAll("\r", " ");
    if (!text.startsWith("{")) return undefined;
    try {
      return { text, message: JSON.parse(text) as Record<string, unknown>, end: this.#end };
    } catch {
      return undefined;
    }
  }
}
