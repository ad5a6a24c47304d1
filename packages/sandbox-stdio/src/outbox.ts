// A client's own input, numbered: what has not been acknowledged is kept and sent again after a break.

import { MAX_STDIN_FRAME_BYTES, MAX_UNACKED_INPUT_BYTES } from "./constants.ts";

export class Outbox {
  /** Chunks in order; the first starts at {@link acked}. */
  #chunks: Uint8Array[] = [];
  #acked = 0;
  /** Where the next byte to hand to the connection stands. */
  #sent = 0;
  #end = 0;

  /** Everything before this has been taken by the process, or refused. */
  get acked(): number {
    return this.#acked;
  }

  /** Length of everything ever written here. */
  get end(): number {
    return this.#end;
  }

  /** Bytes kept. */
  get length(): number {
    return this.#end - this.#acked;
  }

  /** Whether more may be written without keeping more than is allowed. */
  get hasRoom(): boolean {
    return this.length < MAX_UNACKED_INPUT_BYTES;
  }

  get isAllSent(): boolean {
    return this.#sent === this.#end;
  }

  /** Keeps a view of `bytes`. */
  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#end += bytes.length;
  }

  /** The next frame to send, if the peer may be sent more: at most so many bytes are out unacknowledged. */
  next(): Uint8Array | undefined {
    const room = Math.min(
      this.#acked + MAX_UNACKED_INPUT_BYTES - this.#sent,
      MAX_STDIN_FRAME_BYTES,
      this.#end - this.#sent,
    );
    if (room <= 0) return undefined;
    let skip = this.#sent - this.#acked;
    for (const chunk of this.#chunks) {
      if (skip >= chunk.length) {
        skip -= chunk.length;
        continue;
      }
      const frame = chunk.subarray(skip, skip + room);
      this.#sent += frame.length;
      return frame;
    }
    throw new RangeError(`Cannot find input at ${this.#sent}: ${this.#acked} to ${this.#end} are kept`);
  }

  /** The server has taken everything before `offset`. Going back is ignored; beyond the end counts as the end. */
  ack(offset: number): void {
    let drop = Math.min(offset, this.#end) - this.#acked;
    if (drop <= 0) return;
    this.#acked += drop;
    this.#sent = Math.max(this.#sent, this.#acked);
    while (drop > 0) {
      const oldest = this.#chunks[0];
      if (oldest === undefined) break;
      if (oldest.length > drop) {
        this.#chunks[0] = oldest.subarray(drop);
        return;
      }
      drop -= oldest.length;
      this.#chunks.shift();
    }
  }

  /** A new connection numbers its input from `offset` on: what is kept after it is sent again. */
  rewind(offset: number): void {
    if (this.#end === 0 || offset > this.#end) {
      // A client that starts over in a session that knows it: its count goes on where the session's stands.
      if (this.length > 0) throw new RangeError(`Cannot go on at ${offset}: input ends at ${this.#end}`);
      this.#acked = offset;
      this.#end = offset;
    } else this.ack(offset);
    this.#sent = this.#acked;
  }
}
