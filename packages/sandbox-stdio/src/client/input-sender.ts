// A client's own input, numbered: unacknowledged bytes are kept and sent again after a break.

import { joined } from "../text/utf8-text.ts";
import { MAX_STDIN_FRAME_BYTES, MAX_UNACKED_INPUT_BYTES } from "../wire/constants.ts";
import type { KeptInput } from "./client-types.ts";

/** Smaller pieces that wait are put together into one frame: a message costs the same at any size. */
const GATHER_BELOW_BYTES = 16 * 1024;

export class InputSender {
  /** Chunks in order; the first starts at {@link acked}. */
  #chunks: Uint8Array[] = [];
  #acked = 0;
  /** Where the next byte to hand to the connection stands: as an offset, and as a place in {@link #chunks}. */
  #sent = 0;
  #sentChunk = 0;
  #sentInChunk = 0;
  #end = 0;
  #isAnchored = false;
  /** The furthest that this connection has been told of as taken: not more than it has sent, where input is not repeated. */
  #told = 0;
  readonly #isRepeated: boolean;
  /** How much may be sent, and kept, without being acknowledged. */
  windowBytes = MAX_UNACKED_INPUT_BYTES;

  /**
   * @param isRepeated Whether this input may have been written in an earlier life already, byte for byte: bytes of it that
   *   the session turns out to have are then left out. Else no other outbox numbers input here.
   */
  constructor(isRepeated = false) {
    this.#isRepeated = isRepeated;
  }

  /** Goes on with the input of an earlier life. To be called before anything else. Keeps a view of its bytes. */
  restore({ offset, bytes }: KeptInput): void {
    if (offset !== undefined) this.rewind(offset);
    if (bytes !== undefined) this.write(bytes);
  }

  /** What a later life needs to go on with this input: undefined where nothing is kept. */
  get kept(): KeptInput | undefined {
    if (this.length === 0) return undefined;
    const bytes = joined(this.#chunks);
    return { offset: this.#isAnchored ? this.#acked : undefined, length: bytes.length, bytes };
  }

  /** Whether a greeting has said where this input is numbered from. Until then the first byte written counts as 0. */
  get isAnchored(): boolean {
    return this.#isAnchored;
  }

  /** Everything before this has been taken by the process, or refused. */
  get acked(): number {
    return this.#acked;
  }

  /** Length of everything ever written here. Less than {@link acked} where an earlier life's input is ahead. */
  get end(): number {
    return this.#end;
  }

  /** Bytes kept. */
  get length(): number {
    return Math.max(0, this.#end - this.#acked);
  }

  /** Whether more may be written without keeping more than is allowed. */
  get hasRoom(): boolean {
    return this.length < this.windowBytes;
  }

  get isAllSent(): boolean {
    return this.#sent >= this.#end;
  }

  /** Gives up the bytes that this connection has not been handed yet. @returns Those bytes. */
  dropUnsent(): Uint8Array[] {
    if (this.#sent >= this.#end) return [];
    const rest = [this.#rest(), ...this.#chunks.slice(this.#sentChunk + 1)];
    this.#chunks.length = this.#sentChunk + 1;
    const [first] = rest;
    const last = this.#chunks.at(-1);
    if (first !== undefined && last !== undefined) this.#chunks[this.#sentChunk] = last.subarray(0, this.#sentInChunk);
    if (this.#sentInChunk === 0) this.#chunks.pop();
    else {
      this.#sentChunk += 1;
      this.#sentInChunk = 0;
    }
    this.#end = this.#sent;
    return rest;
  }

  /** Keeps a view of `bytes`, which must stay as they are until they are acknowledged. */
  write(bytes: Uint8Array): void {
    const ahead = Math.min(bytes.length, Math.max(0, this.#acked - this.#end));
    this.#end += bytes.length;
    if (bytes.length > ahead) this.#chunks.push(bytes.subarray(ahead));
  }

  /**
   * The next frame to send, if the peer may be sent more. A view of the kept bytes, or gathered: it must not be changed.
   * @param windowBytes How much may be sent and not acknowledged, if it is less than usual.
   */
  next(windowBytes = this.windowBytes): Uint8Array | undefined {
    const room = Math.min(this.#acked + windowBytes - this.#sent, MAX_STDIN_FRAME_BYTES, this.#end - this.#sent);
    if (room <= 0) return undefined;
    const rest = this.#rest();
    let frame = rest.subarray(0, room);
    if (rest.length >= Math.min(room, GATHER_BELOW_BYTES)) this.#took(frame);
    else {
      frame = new Uint8Array(room);
      for (let at = 0; at < room; ) at += this.#took(this.#rest().subarray(0, room - at), frame, at).length;
    }
    this.#drop(Math.min(this.#told, this.#sent));
    return frame;
  }

  /**
   * The server has taken everything before `offset`. Going back is ignored. Beyond what this connection has sent it counts
   * once that is sent: input that an earlier life brought through must be sent all the same, since a connection counts its bytes.
   */
  ack(offset: number): void {
    this.#told = Math.max(this.#told, this.#isRepeated ? offset : Math.min(offset, this.#sent));
    this.#drop(Math.min(this.#told, this.#sent));
  }

  /**
   * A new connection numbers its input from `offset` on: kept bytes after it are sent again. The first one says where the
   * count stands in a session that may have known this client in an earlier life.
   */
  rewind(offset: number): void {
    if (!this.#isAnchored) {
      this.#isAnchored = true;
      this.#acked = offset;
      this.#end += offset;
    } else if (offset > this.#end && !this.#isRepeated) {
      if (this.length > 0) throw new RangeError(`Cannot go on at ${offset}: input ends at ${this.#end}`);
      this.#acked = offset;
      this.#end = offset;
    } else this.#drop(offset);
    this.#told = offset;
    this.#sendFromStart();
  }

  #drop(offset: number): void {
    if (offset <= this.#acked) return;
    let drop = Math.max(0, Math.min(offset, this.#end) - this.#acked);
    this.#acked = offset;
    let gone = 0;
    for (let oldest = this.#chunks[gone]; oldest !== undefined && drop >= oldest.length; oldest = this.#chunks[gone]) {
      drop -= oldest.length;
      gone += 1;
    }
    this.#chunks.splice(0, gone);
    const oldest = this.#chunks[0];
    if (oldest !== undefined && drop > 0) this.#chunks[0] = oldest.subarray(drop);
    this.#sentChunk -= gone;
    if (this.#sentChunk === 0) this.#sentInChunk -= drop;
  }

  #sendFromStart(): void {
    this.#sent = this.#acked;
    this.#sentChunk = 0;
    this.#sentInChunk = 0;
  }

  /** The unsent rest of the next chunk. */
  #rest(): Uint8Array {
    const chunk = this.#chunks[this.#sentChunk];
    if (chunk === undefined) {
      throw new RangeError(`Cannot find input at ${this.#sent}: ${this.#acked} to ${this.#end} are kept`);
    }
    return chunk.subarray(this.#sentInChunk);
  }

  /** Counts `bytes`, the next ones, as sent; copies them where they are gathered. */
  #took(bytes: Uint8Array, frame?: Uint8Array, at = 0): Uint8Array {
    frame?.set(bytes, at);
    this.#sent += bytes.length;
    this.#sentInChunk += bytes.length;
    if (this.#sentInChunk === this.#chunks[this.#sentChunk]?.length) {
      this.#sentChunk += 1;
      this.#sentInChunk = 0;
    }
    return bytes;
  }
}
