// Messages that come in pieces on a pipe: each says at its beginning how long it is.

import { FILE_HEAD_BYTES, fileMessageLength } from "sandbox-stdio/core";

export class FrameReader {
  readonly #maxBytes: number;
  /** What has room for the next head, or for the message that its head has announced. */
  #room = new Uint8Array(FILE_HEAD_BYTES);
  #filled = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns The messages that are whole now. @throws {RangeError} If one is too long. */
  push(piece: Uint8Array): Uint8Array[] {
    const messages: Uint8Array[] = [];
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + this.#room.length - this.#filled);
      this.#room.set(taken, this.#filled);
      at += taken.length;
      this.#filled += taken.length;
      if (this.#filled < this.#room.length) break;
      const length = fileMessageLength(this.#room);
      if (length > this.#maxBytes) throw new RangeError(`Cannot read a message of ${length} bytes`);
      const isWhole = this.#filled === length;
      const room = new Uint8Array(isWhole ? FILE_HEAD_BYTES : length);
      if (isWhole) messages.push(this.#room);
      else room.set(this.#room);
      this.#filled = isWhole ? 0 : FILE_HEAD_BYTES;
      this.#room = room;
    }
    return messages;
  }
}
