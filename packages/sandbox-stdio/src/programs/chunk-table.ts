// A process's output in numbered chunks (E4). Where a chunk ends depends on when it was requested, so reported chunks are kept: a
// number always means the same bytes while the process is known.

import type { OutputLog } from "../output/output-log.ts";
import type { OutputStream } from "../wire/frames.ts";
import { isArrayOf, isObject, isOffset } from "../wire/schema.ts";

/** Longest chunk. */
export const MAX_CHUNK_BYTES = 32 * 1024;
/** Most chunks whose positions are remembered. Older ones keep only their number. */
const MAX_CHUNKS = 100_000;

export type Chunk = readonly [offset: number, length: number, stream: OutputStream];

/** Consecutive chunks from number `first` on. `end` is the offset after all chunks ever cut. */
export type ChunkList = { readonly first: number; readonly end: number; readonly chunks: readonly Chunk[] };

export class ChunkTable {
  /** Number of the oldest remembered chunk. */
  #first: number;
  #end: number;
  readonly #chunks: Chunk[];

  /** @param list The whole list of an earlier life. */
  constructor({ first, end, chunks }: ChunkList = { first: 1, end: 0, chunks: [] }) {
    this.#first = first;
    this.#end = end;
    this.#chunks = [...chunks];
  }

  /** Number of the newest chunk. */
  get last(): number {
    return this.#first + this.#chunks.length - 1;
  }

  /** Cuts the output before `to`. Output that the log no longer holds gets no chunk: the next chunk begins after it. */
  cut(log: OutputLog, to = log.endOffset): void {
    const end = Math.min(to, log.endOffset);
    let at = Math.max(this.#end, Math.min(log.startOffset, end));
    while (at < end) {
      const item = log.itemAt(at, Math.min(MAX_CHUNK_BYTES, end - at));
      if (item.kind !== "bytes") break;
      this.#chunks.push([at, item.length, item.stream]);
      at += item.length;
    }
    this.#end = Math.max(this.#end, at);
    const over = this.#chunks.length - MAX_CHUNKS;
    // Remove many at once, since each removal moves all others.
    if (over > MAX_CHUNKS / 10) {
      this.#chunks.splice(0, over);
      this.#first += over;
    }
  }

  /** At most `most` remembered chunks after number `after`. */
  list(after = 0, most = MAX_CHUNKS * 2): ChunkList {
    const first = Math.max(after + 1, this.#first);
    const from = first - this.#first;
    return { first, end: this.#end, chunks: this.#chunks.slice(from, from + most) };
  }
}

const isList = isObject({ first: isOffset, end: isOffset, chunks: isArrayOf(isArrayOf(isOffset, 3), MAX_CHUNKS * 2) });

/** Validates a list, since the bridge is not trusted. @returns undefined if malformed. */
export function readChunkList(value: unknown): ChunkList | undefined {
  if (isList(value) !== undefined) return undefined;
  const list = value as ChunkList;
  let at = 0;
  for (const { 0: offset, 1: length, 2: stream } of list.chunks) {
    const isChunk = offset >= at && length > 0 && length <= MAX_CHUNK_BYTES && (stream === 1 || stream === 2);
    if (!isChunk || offset + length > list.end) return undefined;
    at = offset + length;
  }
  return list.first > 0 ? list : undefined;
}
