// The newest output of a session, by absolute offset, each byte tagged with its stream. One log serves any number of
// readers: a reader is an offset that its owner keeps. Knows nothing of clients or frames.

import {
  LOG_BYTES,
  MAX_FRAME_BYTES,
  MAX_WINDOW_BYTES,
  MIN_WINDOW_BYTES,
  STREAM_STDERR,
  STREAM_STDOUT,
  WINDOW_SHARE,
} from "../wire/constants.ts";
import type { OutputStream } from "../wire/frames.ts";

/** A change of the PTY's size: applies from the byte at `offset` on. */
export type SizeMark = { readonly offset: number; readonly cols: number; readonly rows: number };

/** The next item for a reader at some offset. */
export type LogItem =
  /** `length` bytes of one stream: at most one frame, with no size change inside. */
  | { readonly kind: "bytes"; readonly stream: OutputStream; readonly length: number }
  /** The bytes are no longer held. */
  | { readonly kind: "gap"; readonly startOffset: number }
  /** The reader has read everything. */
  | { readonly kind: "end" };

/** Enough for a prompt. */
const FIRST_CAPACITY = 512;
const MIN_CAPACITY = 4096;
/** Most size changes remembered. When the oldest is dropped, its size applies from the log's start. */
const MAX_SIZE_MARKS = 1024;

/**
 * One ring that doubles up to its capacity, so that an idle session costs little. Each byte's stream is one bit in a
 * parallel map: bounded for any pattern of writes, and allocated with the first byte of stderr.
 */
export class OutputLog {
  readonly capacityBytes: number;
  /** Largest ring: a power of two. */
  readonly #maxRingBytes: number;
  #ring: Uint8Array<ArrayBuffer>;
  #start: number;
  #end: number;
  /** Bit i is set if ring byte i is stderr. */
  #stderrBits: Uint8Array | undefined;
  #marks: SizeMark[] = [];
  #sizeAtStart: { cols: number; rows: number };
  #reserved = 0;
  #hasOutputEnded = false;

  /**
   * @param capacityBytes How many of the newest bytes are held.
   * @param offset Offset of the first byte that will be appended.
   */
  constructor(size: { cols: number; rows: number }, capacityBytes = LOG_BYTES, offset = 0) {
    if (!(capacityBytes >= MIN_CAPACITY)) {
      throw new RangeError(`Cannot make a log of ${capacityBytes} bytes: need at least ${MIN_CAPACITY}`);
    }
    this.capacityBytes = capacityBytes;
    this.#maxRingBytes = 2 ** Math.ceil(Math.log2(capacityBytes));
    this.#ring = new Uint8Array(FIRST_CAPACITY);
    this.#start = offset;
    this.#end = offset;
    this.#sizeAtStart = { cols: size.cols, rows: size.rows };
  }

  /** Most bytes in flight to a reader of this log. */
  get windowBytes(): number {
    if (this.capacityBytes >= LOG_BYTES) return MAX_WINDOW_BYTES;
    return Math.max(MIN_WINDOW_BYTES, Math.floor(WINDOW_SHARE * this.capacityBytes));
  }

  /** Most bytes to read from a process at once: a window, a frame and one of each of its streams fit into the log together. */
  get frameBytes(): number {
    return Math.min(MAX_FRAME_BYTES, Math.floor(this.capacityBytes / 8));
  }

  /** Offset of the oldest byte still held. */
  get startOffset(): number {
    return this.#start;
  }

  /** Offset that the next byte will get. */
  get endOffset(): number {
    return this.#end;
  }

  /**
   * Contiguous memory for the next output: at least one byte, at most `maxBytes`. The oldest bytes may already be overwritten,
   * so call {@link commit} before anything else, and don't keep the memory.
   */
  reserve(maxBytes = MAX_FRAME_BYTES): Uint8Array {
    this.#grow(maxBytes);
    const at = this.#end & (this.#ring.length - 1);
    const length = Math.min(maxBytes, this.#ring.length - at);
    this.#reserved = length;
    return this.#ring.subarray(at, at + length);
  }

  /** Appends the first `length` bytes of the last {@link reserve}. */
  commit(length: number, stream: OutputStream): void {
    if (length > this.#reserved || length < 0)
      throw new RangeError(`Cannot commit ${length} of ${this.#reserved} bytes`);
    this.#reserved = 0;
    this.#tag(length, stream);
    this.#end += length;
    this.#dropBefore(this.#end - Math.min(this.capacityBytes, this.#ring.length));
  }

  /** Copies `chunk` in. Never fails: bytes that don't fit push out the oldest ones, even of `chunk` itself. */
  append(chunk: Uint8Array, stream: OutputStream): void {
    for (let done = 0; done < chunk.length; ) {
      const room = this.reserve(Math.min(chunk.length - done, MAX_FRAME_BYTES));
      room.set(done === 0 && room.length === chunk.length ? chunk : chunk.subarray(done, done + room.length));
      this.commit(room.length, stream);
      done += room.length;
    }
  }

  /** Whether the output is complete, though the process may still take input. */
  get hasOutputEnded(): boolean {
    return this.#hasOutputEnded;
  }

  markOutputEnd(): void {
    this.#hasOutputEnded = true;
  }

  /** Sets the PTY's size from the next byte on. */
  markSize(cols: number, rows: number): void {
    const last = this.#marks.at(-1);
    if (last?.offset === this.#end) this.#marks.pop();
    this.#marks.push({ offset: this.#end, cols, rows });
    if (this.#marks.length > MAX_SIZE_MARKS) {
      const oldest = this.#marks.shift();
      if (oldest !== undefined) this.#sizeAtStart = { cols: oldest.cols, rows: oldest.rows };
    }
  }

  /** The PTY's size at the byte at `offset`. */
  sizeAt(offset: number): { cols: number; rows: number } {
    let size = this.#sizeAtStart;
    for (const mark of this.#marks) {
      if (mark.offset > offset) break;
      size = mark;
    }
    return { cols: size.cols, rows: size.rows };
  }

  /** The remembered size changes, oldest first. */
  get changes(): readonly SizeMark[] {
    return [...this.#marks];
  }

  /** Restores the size changes of a log that was read from a store. */
  restoreChanges(changes: readonly SizeMark[]): void {
    this.#marks = changes.filter(({ offset }) => offset >= this.#start && offset <= this.#end);
  }

  /** The first size change at or after `offset`, if any. */
  markFrom(offset: number): SizeMark | undefined {
    const marks = this.#marks;
    const last = marks.at(-1);
    if (last === undefined || last.offset < offset) return undefined;
    return marks.find((mark) => mark.offset >= offset);
  }

  /** The next item for a reader at `offset`, at most `maxBytes`. @throws {RangeError} if `offset` is beyond the end. */
  itemAt(offset: number, maxBytes = MAX_FRAME_BYTES): LogItem {
    if (!Number.isSafeInteger(offset) || offset > this.#end) {
      throw new RangeError(`Cannot read at ${offset}: the log ends at ${this.#end}`);
    }
    if (offset < this.#start) return { kind: "gap", startOffset: this.#start };
    if (offset === this.#end) return { kind: "end" };
    let length = Math.min(maxBytes, this.#end - offset);
    const mark = this.markFrom(offset + 1);
    if (mark !== undefined) length = Math.min(length, mark.offset - offset);
    if (this.#stderrBits === undefined) return { kind: "bytes", stream: STREAM_STDOUT, length };
    return this.#runAt(offset, length);
  }

  /** Copies bytes that {@link itemAt} returned into `target`, from index `at` on. */
  copy(offset: number, length: number, target: Uint8Array, at: number): void {
    const from = offset & (this.#ring.length - 1);
    const first = Math.min(length, this.#ring.length - from);
    target.set(this.#ring.subarray(from, from + first), at);
    if (first < length) target.set(this.#ring.subarray(0, length - first), at + first);
  }

  /** Drops everything and continues at `offset`; the bytes between are lost. */
  skipTo(offset: number): void {
    if (offset < this.#end) throw new RangeError(`Cannot skip back from ${this.#end} to ${offset}`);
    this.#end = offset;
    this.#dropBefore(offset);
  }

  #grow(extra: number): void {
    const held = this.#end - this.#start;
    let capacity = this.#ring.length;
    while (capacity < held + extra && capacity < this.#maxRingBytes) capacity *= 2;
    if (capacity === this.#ring.length) return;
    const ring = new Uint8Array(capacity);
    const bits = this.#stderrBits === undefined ? undefined : new Uint8Array(capacity / 8);
    const mask = capacity - 1;
    for (let offset = this.#start; offset < this.#end; ) {
      const item = this.itemAt(offset, MAX_FRAME_BYTES);
      if (item.kind !== "bytes") break;
      const at = offset & mask;
      const length = Math.min(item.length, capacity - at);
      this.copy(offset, length, ring, at);
      if (bits !== undefined && item.stream === STREAM_STDERR) setBits(bits, at, length, true);
      offset += length;
    }
    this.#ring = ring;
    this.#stderrBits = bits;
  }

  #tag(length: number, stream: OutputStream): void {
    if (length === 0) return;
    if (this.#stderrBits === undefined) {
      if (stream === STREAM_STDOUT) return;
      this.#stderrBits = new Uint8Array(this.#ring.length / 8);
    }
    // reserve() never returns memory across the ring's end, so a commit never wraps.
    setBits(this.#stderrBits, this.#end & (this.#ring.length - 1), length, stream === STREAM_STDERR);
  }

  #runAt(offset: number, maxLength: number): LogItem {
    const bits = this.#stderrBits ?? new Uint8Array(0);
    const mask = this.#ring.length - 1;
    const isErr = bitAt(bits, offset & mask);
    const uniform = isErr ? 0xff : 0x00;
    let length = 1;
    while (length < maxLength) {
      const at = (offset + length) & mask;
      if ((at & 7) === 0 && maxLength - length >= 8 && bits[at >> 3] === uniform) length += 8;
      else if (bitAt(bits, at) === isErr) length += 1;
      else break;
    }
    return { kind: "bytes", stream: isErr ? STREAM_STDERR : STREAM_STDOUT, length };
  }

  #dropBefore(offset: number): void {
    if (offset <= this.#start) return;
    this.#start = offset;
    // Keep marks at the new start: a reader there has not been told of them yet.
    for (let oldest = this.#marks[0]; oldest !== undefined && oldest.offset < offset; oldest = this.#marks[0]) {
      this.#sizeAtStart = { cols: oldest.cols, rows: oldest.rows };
      this.#marks.shift();
    }
  }
}

function bitAt(bits: Uint8Array, at: number): boolean {
  return (((bits[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;
}

function setBits(bits: Uint8Array, at: number, length: number, value: boolean): void {
  const end = at + length;
  let next = at;
  while (next < end) {
    if ((next & 7) === 0 && end - next >= 8) {
      const bytes = (end - next) >> 3;
      bits.fill(value ? 0xff : 0, next >> 3, (next >> 3) + bytes);
      next += bytes * 8;
    } else {
      const mask = 1 << (next & 7);
      bits[next >> 3] = value ? (bits[next >> 3] ?? 0) | mask : (bits[next >> 3] ?? 0) & ~mask;
      next += 1;
    }
  }
}
