// Writes standard output and standard error in order, one write at a time. Knows no session.
//
// process.stdout would block the program while a pipe or terminal is full: no ping, acknowledgement or signal would be handled.
// Here a thread of the pool waits instead.

import fs from "node:fs";

export type OutputEvents = {
  /** Everything before `end` is written: reported for pushed ends, and within their bytes. */
  written(end: number): void;
  /** Writing failed, mostly with EPIPE. The queue is dropped. */
  broken(fd: number, error: NodeJS.ErrnoException): void;
};

type Chunk = {
  readonly fd: number;
  /** The unwritten rest. */
  bytes: Uint8Array;
  readonly end: number | undefined;
};

/** Limits of one writev, so that written bytes are acknowledged soon. */
const MAX_BATCH_CHUNKS = 64;
const MAX_BATCH_BYTES = 128 * 1024;
/** Pause before a retry if the descriptor is full and another process made it non-blocking; doubled up to the maximum. */
const FIRST_AGAIN_MS = 1;
const LAST_AGAIN_MS = 32;

export class Output {
  readonly #events: OutputEvents;
  #queue: Chunk[] = [];
  #isBusy = false;
  #isBroken = false;
  /** Bytes written to each descriptor. */
  readonly #written = new Map<number, number>();
  #waiters: (() => void)[] = [];

  constructor(events: OutputEvents) {
    this.#events = events;
  }

  /** Bytes written to `fd`. */
  writtenTo(fd: number): number {
    return this.#written.get(fd) ?? 0;
  }

  /**
   * Keeps a view of `bytes` until they are written.
   * @param end Their end in the caller's count. Absent: reported with the next end.
   */
  push(fd: number, bytes: Uint8Array, end?: number): void {
    if (this.#isBroken) return;
    this.#queue.push({ fd, bytes, end });
    if (!this.#isBusy) this.#pump();
  }

  /** Resolves when the queue is empty. */
  flushed(): Promise<void> {
    if (!this.#isBusy) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Drops the queue. A write in progress is finished. */
  drop(): void {
    this.#queue.length = 0;
  }

  #pump(): void {
    this.#isBusy = true;
    for (;;) {
      const first = this.#queue[0];
      if (first === undefined) {
        this.#rest();
        return;
      }
      if (first.bytes.length > 0) {
        this.#write(this.#batch(first));
        return;
      }
      this.#queue.shift();
      if (first.end !== undefined) this.#events.written(first.end);
    }
  }

  #batch(first: Chunk): Chunk[] {
    const batch = [first];
    let length = first.bytes.length;
    for (let i = 1; i < MAX_BATCH_CHUNKS; i += 1) {
      const next = this.#queue[i];
      if (next === undefined || next.fd !== first.fd || next.bytes.length === 0) break;
      length += next.bytes.length;
      if (length > MAX_BATCH_BYTES) break;
      batch.push(next);
    }
    return batch;
  }

  #write(batch: Chunk[], againMs = FIRST_AGAIN_MS): void {
    const fd = batch[0]?.fd ?? 1;
    fs.writev(
      fd,
      batch.map((chunk) => chunk.bytes),
      (error, count) => {
        if (error?.code === "EAGAIN") {
          setTimeout(() => this.#write(batch, Math.min(2 * againMs, LAST_AGAIN_MS)), againMs);
          return;
        }
        if (error !== null) {
          this.#break(fd, error);
          return;
        }
        this.#took(batch, count);
        this.#pump();
      },
    );
  }

  /** The first `count` bytes of the batch are written. */
  #took(batch: readonly Chunk[], count: number): void {
    let left = count;
    let whole = 0;
    let end: number | undefined;
    for (const chunk of batch) {
      const length = Math.min(left, chunk.bytes.length);
      if (length === 0) break;
      left -= length;
      chunk.bytes = chunk.bytes.subarray(length);
      this.#written.set(chunk.fd, this.writtenTo(chunk.fd) + length);
      if (chunk.end !== undefined) end = chunk.end - chunk.bytes.length;
      if (chunk.bytes.length === 0) whole += 1;
    }
    // drop() may have emptied the queue meanwhile.
    if (this.#queue[0] === batch[0]) this.#queue.splice(0, whole);
    if (end !== undefined) this.#events.written(end);
  }

  #break(fd: number, error: NodeJS.ErrnoException): void {
    this.#isBroken = true;
    this.#queue.length = 0;
    this.#rest();
    this.#events.broken(fd, error);
  }

  #rest(): void {
    this.#isBusy = false;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
