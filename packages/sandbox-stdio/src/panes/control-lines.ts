// Splits a stream of bytes into lines, whatever pieces it arrives in. A line within one piece is a view, others are copies.

import { joined } from "../text/utf8-text.ts";

/** Longest line accepted: tmux's are far shorter. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class ControlLines {
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** @returns Why the stream can't be parsed any further, or undefined. */
  push(chunk: Uint8Array, take: (line: Uint8Array) => void): string | undefined {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end < 0) break;
      take(withoutReturn(this.#complete(chunk.subarray(start, end))));
      start = end + 1;
    }
    if (start === chunk.length) return undefined;
    // Not slice(): on a Buffer it returns a view.
    this.#pieces.push(new Uint8Array(chunk.subarray(start)));
    this.#length += chunk.length - start;
    if (this.#length <= MAX_LINE_BYTES) return undefined;
    this.#pieces = [];
    return `a line of more than ${MAX_LINE_BYTES} bytes`;
  }

  #complete(last: Uint8Array): Uint8Array {
    if (this.#length === 0) return last;
    const line = joined([...this.#pieces, last]);
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}

/** Until a PTY is raw, lines end with CR LF. Output can't end with a bare CR: tmux writes that as `\015`. */
function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}
