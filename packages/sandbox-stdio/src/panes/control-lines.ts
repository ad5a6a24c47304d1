// Cuts a stream of bytes into lines, in any pieces that it comes in. A line that comes whole is a view, one in pieces is a copy.

import { joined } from "../text/utf8-text.ts";

/** Bytes of one line at most: tmux writes far shorter ones. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class ControlLines {
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** @returns Why the stream can't be followed any more, or undefined. */
  push(chunk: Uint8Array, take: (line: Uint8Array) => void): string | undefined {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end < 0) break;
      take(withoutReturn(this.#complete(chunk.subarray(start, end))));
      start = end + 1;
    }
    if (start === chunk.length) return undefined;
    // Not `slice`: of a Buffer, that is a view.
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

/** A PTY that is not raw yet ends lines by both. Output can't end in a bare one: tmux writes it as `\015`. */
function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}
