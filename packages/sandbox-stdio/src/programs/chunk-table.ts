// A process's output in numbered chunks (E4). Where a chunk ends depends on when it was requested, so reported chunks are kept: a
// number always means the same bytes while the process is known.

import type { OutputLog } from "../output/output-log.ts";
import type { OutputStream } from "../wire/frames.ts";

/** Longest chunk. */
export const MAX_CHUNK_BYTES = 32 * 1024;
/** Most chunks whose positions are remembered. Older ones keep only their number. */
export const MAX_CHUNKS = 100_000;

export type Chunk = { readonly offset: number; readonly length: number; readonly stream: OutputStream };

/** Stored form: two numbers per chunk, its offset, and its length and stream combined. */
export type ChunkState = { readonly first: number; readonly end: number; readonly chunks: readonly number[] };

/** Consecutive chunks from number `first` on. `end` is the offset after all chunks ever cut. */
export type ChunkList = { readonly first: number; readonly end: number; readonly chunks: readonly Chunk[] };

export class ChunkTable {
  /** Number of the oldest remembered chunk. */
  #first = 1;
  #end = 0;
  /** As in {@link ChunkState}. */
  #numbers: number[] = [];

  /** @param state Stored by an earlier life. */
  constructor(state?: ChunkState) {
    if (state === undefined) return;
    this.#first = state.first;
    this.#end = state.end;
    this.#numbers = [...state.chunks];
  }

  /** Number of the newest chunk. */
  get last(): number {
    return this.#first + this.#numbers.length / 2 - 1;
  }

  /** Cuts the output before `to`. Output that the log no longer holds gets no chunk: the next chunk begins after it. */
  cut(log: OutputLog, to = log.endOffset): void {
    const end = Math.min(to, log.endOffset);
    let at = Math.max(this.#end, Math.min(log.startOffset, end));
    while (at < end) {
      const item = log.itemAt(at, Math.min(MAX_CHUNK_BYTES, end - at));
      if (item.kind !== "bytes") break;
      this.#numbers.push(at, item.length * 2 + item.stream - 1);
      at += item.length;
    }
    this.#end = Math.max(this.#end, at);
    const over = this.#numbers.length / 2 - MAX_CHUNKS;
    // Remove many at once, since each removal moves all others.
    if (over > MAX_CHUNKS / 10) {
      this.#numbers.splice(0, over * 2);
      this.#first += over;
    }
  }

  /** At most `most` remembered chunks after number `after`. */
  list(after: number, most = Number.POSITIVE_INFINITY): ChunkList {
    const first = Math.max(after + 1, this.#first);
    const from = (first - this.#first) * 2;
    const chunks: Chunk[] = [];
    for (let i = from; i < this.#numbers.length && chunks.length < most; i += 2) {
      const [offset = 0, packed = 0] = [this.#numbers[i], this.#numbers[i + 1]];
      chunks.push({ offset, length: packed >> 1, stream: (packed & 1) === 0 ? 1 : 2 });
    }
    return { first, end: this.#end, chunks };
  }

  /** At most `most` chunks after number `after`, in the form for storage and the inner hop. */
  state(after = 0, most = Number.POSITIVE_INFINITY): ChunkState {
    const first = Math.max(after + 1, this.#first);
    const from = (first - this.#first) * 2;
    return { first, end: this.#end, chunks: this.#numbers.slice(from, from + most * 2) };
  }
}

/** Validates a table, since the bridge is not trusted. @returns undefined if malformed. */
export function readChunkState(value: unknown): ChunkState | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { first, end, chunks } = value as { first?: unknown; end?: unknown; chunks?: unknown };
  const isNumber = (one: unknown): one is number => Number.isSafeInteger(one) && (one as number) >= 0;
  if (!isNumber(first) || first < 1 || !isNumber(end) || !Array.isArray(chunks) || chunks.length % 2 === 1) {
    return undefined;
  }
  let at = 0;
  for (let i = 0; i < chunks.length; i += 2) {
    const [offset, packed]: unknown[] = [chunks[i], chunks[i + 1]];
    const isChunk = isNumber(offset) && isNumber(packed) && packed >> 1 > 0 && packed >> 1 <= MAX_CHUNK_BYTES;
    if (!isChunk || offset < at || offset + (packed >> 1) > end) return undefined;
    at = offset + (packed >> 1);
  }
  return { first, end, chunks: chunks as number[] };
}
