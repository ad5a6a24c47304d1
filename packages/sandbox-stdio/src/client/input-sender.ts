// Numbers a client's input, keeps unacknowledged bytes, and resends them after a break.

import { joined } from "../text/utf8-text.ts";
import { MAX_STDIN_FRAME_BYTES, MAX_UNACKED_INPUT_BYTES } from "../wire/constants.ts";
import type { KeptInput } from "./client-types.ts";

/** Smaller waiting pieces are gathered into one frame: a message costs the same at any size. */
const GATHER_BELOW_BYTES = 16 * 1024;

export class InputSender {
  /** Chunks in order; the first starts at {@link acked}. */
  #chunks: Uint8Array[] = [];
  #acked = 0;
  /** Position of the next byte to send: as an offset, and within {@link #chunks}. */
  #sent = 0;
  #sentChunk = 0;
  #sentInChunk = 0;
  #end = 0;
  #isAnchored = false;
  /** Highest acknowledged offset on this connection; unless input is repeated, at most what was sent. */
  #highestAck = 0;
  readonly #isRepeated: boolean;
  /** Most unacknowledged input, sent or kept. */
  windowBytes = MAX_UNACKED_INPUT_BYTES;

  /**
   * @param isRepeated Whether an earlier life may have written the same input: bytes that the session already has are then left
   *   out. Otherwise no other sender numbers input here.
   */
  constructor(isRepeated = false) {
    this.#isRepeated = isRepeated;
  }

  /** Continues the input of an earlier life. Call before anything else. Keeps a view of its bytes. */
  restore({ offset, bytes }: KeptInput): void {
    if (offset !== undefined) this.rewind(offset);
    if (bytes !== undefined) this.write(bytes);
  }

  /** What a later life needs to continue this input; undefined if nothing is kept. */
  get kept(): KeptInput | undefined {
    if (this.length === 0) return undefined;
    const bytes = joined(this.#chunks);
    return { offset: this.#isAnchored ? this.#acked : undefined, length: bytes.length, bytes };
  }

  /** Whether a greeting has set where this input starts. Until then the first byte written counts as 0. */
  get isAnchored(): boolean {
    return this.#isAnchored;
  }

  /** Everything before this was taken by the process or refused. */
  get acked(): number {
    return this.#acked;
  }

  /** Length of everything ever written here. Less than {@link acked} if an earlier life's input is ahead. */
  get end(): number {
    return this.#end;
  }

  /** Number of bytes kept. */
  get length(): number {
    return Math.max(0, this.#end - this.#acked);
  }

  /** Whether more may be written within the window. */
  get hasRoom(): boolean {
    return this.length < this.windowBytes;
  }

  get isAllSent(): boolean {
    return this.#sent >= this.#end;
  }

  /** Drops the bytes not sent on this connection. @returns Those bytes. */
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

  /** Keeps a view of `bytes`, which must not change until they are acknowledged. */
  write(bytes: Uint8Array): void {
    const ahead = Math.min(bytes.length, Math.max(0, this.#acked - this.#end));
    this.#end += bytes.length;
    if (bytes.length > ahead) this.#chunks.push(bytes.subarray(ahead));
  }

  /**
   * The next frame to send, if the window allows: a view of the kept bytes, or gathered. The caller must not change it.
   * @param windowBytes Most unacknowledged input, if less than usual.
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
    this.#drop(Math.min(this.#highestAck, this.#sent));
    return frame;
  }

  /**
   * The server has taken everything before `offset`. Lower offsets are ignored. An offset beyond what this connection has sent
   * applies once that is sent: a connection counts its bytes, even those that an earlier life delivered.
   */
  ack(offset: number): void {
    this.#highestAck = Math.max(this.#highestAck, this.#isRepeated ? offset : Math.min(offset, this.#sent));
    this.#drop(Math.min(this.#highestAck, this.#sent));
  }

  /**
   * A new connection numbers its input from `offset` on: kept bytes after it are resent. The first call sets the count, as the
   * session may know this client from an earlier life.
   */
  rewind(offset: number): void {
    if (!this.#isAnchored) {
      this.#isAnchored = true;
      this.#acked = offset;
      this.#end += offset;
    } else if (offset > this.#end && !this.#isRepeated) {
      if (this.length > 0) throw new RangeError(`Cannot continue at ${offset}: input ends at ${this.#end}`);
      this.#acked = offset;
      this.#end = offset;
    } else this.#drop(offset);
    this.#highestAck = offset;
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

  /** Counts `bytes`, which are next, as sent; copies them into `frame` if gathering. */
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
