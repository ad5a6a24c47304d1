// Bytes of a server's standard output as lines of JSON. A line that is no JSON object is passed over: servers print such lines.

import { LongLine, type LongLineState } from "./long-line.ts";

/** Bytes of one message, in either direction. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

export type Line = {
  readonly text: string;
  readonly message: Readonly<Record<string, unknown>>;
  /** Bytes of standard output up to the end of this line. */
  readonly end: number;
  /** Set for a line over the limit: `text` is empty, and `message` has only the id and the method, if any. */
  readonly isTooLong?: true;
};

const NEWLINE = 0x0a;

export class JsonLines {
  readonly #decoder = new TextDecoder();
  #pieces: Uint8Array[] = [];
  #length = 0;
  #end: number;
  #long: LongLine | undefined;

  /**
   * @param end How many bytes have come before. @param partial The unfinished line among them; kept, not copied.
   * @param long What is kept instead of a line that is too long.
   */
  constructor(end = 0, partial: readonly Uint8Array[] = [], long?: LongLineState) {
    this.#end = end;
    this.#long = long && new LongLine(long);
    this.#pieces = [...partial];
    this.#length = partial.reduce((sum, { length }) => sum + length, 0);
  }

  /** The unfinished line. */
  get partial(): readonly Uint8Array[] {
    return this.#pieces;
  }

  /** What is kept of an unfinished line that is too long already: it has no {@link partial}. */
  get long(): LongLineState | undefined {
    return this.#long?.state;
  }

  /** Bytes of standard output that have come. */
  get end(): number {
    return this.#end;
  }

  /** Bytes of standard output before the unfinished line. */
  get lineStart(): number {
    return this.#end - (this.#long?.state.length ?? this.#length);
  }

  /** Takes bytes, which it keeps. @returns The messages that they complete. */
  push(bytes: Uint8Array): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#keep(bytes.subarray(from, at));
      from = at + 1;
      const line = this.#finish();
      if (line !== undefined) lines.push(line);
    }
    this.#keep(bytes.subarray(from));
    return lines;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#end += piece.length;
    if (this.#long !== undefined) {
      this.#long.push(piece);
      return;
    }
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length <= MAX_MESSAGE_BYTES) return;
    this.#long = new LongLine();
    for (const one of this.#pieces.splice(0)) this.#long.push(one);
    this.#length = 0;
  }

  /** At its line end. */
  #finish(): Line | undefined {
    this.#end += 1;
    const long = this.#long;
    if (long !== undefined) {
      this.#long = undefined;
      return long.message && { text: "", message: long.message, end: this.#end, isTooLong: true };
    }
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
