// Messages on a pipe: the length of each, then the message.

import { joined } from "sandbox-stdio/core";

const LENGTH_BYTES = 4;

export function framed(message: Uint8Array): Uint8Array {
  const frame = joined([new Uint8Array(LENGTH_BYTES), message]);
  new DataView(frame.buffer).setUint32(0, message.length);
  return frame;
}

export class FrameReader {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns The messages that are whole now. `piece` is this reader's from here on. @throws {RangeError} If one is too long. */
  push(piece: Uint8Array): Uint8Array[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const messages: Uint8Array[] = [];
    for (;;) {
      const length = this.#nextLength();
      if (length === undefined || this.#bytes < LENGTH_BYTES + length) return messages;
      const all = this.#together();
      messages.push(all.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
      this.#pieces = [all.subarray(LENGTH_BYTES + length)];
      this.#bytes -= LENGTH_BYTES + length;
    }
  }

  #nextLength(): number | undefined {
    if (this.#bytes < LENGTH_BYTES) return undefined;
    const [first] = this.#pieces;
    const head = first !== undefined && first.length >= LENGTH_BYTES ? first : this.#together();
    const length = new DataView(head.buffer, head.byteOffset).getUint32(0);
    if (length > this.#maxBytes) throw new RangeError(`Cannot read a message of ${length} bytes`);
    return length;
  }

  #together(): Uint8Array {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1) return first;
    const all = joined(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
