// A segment's bytes as they are stored: compressed, with their hash, and back. What is read may be anything, and is nothing then.

import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { constants, gunzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { splitUtf8 } from "sandbox-stdio/core";
import {
  decodeSegment,
  encodeSegment,
  MAX_SEGMENT_BYTES,
  type Segment,
  type SegmentFacts,
} from "sandbox-stdio/recording";

export type Packed = { readonly bytes: Uint8Array<ArrayBuffer>; readonly sha256: string };

/** Fast enough for a flood, also of what can't be compressed, where gzip takes 20 ms a MiB. */
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Its header and its key frames included. */
const MOST_BYTES = 4 * MAX_SEGMENT_BYTES;
const GZIP_MARK = 0x1f;
/** New memory for each would cost as much as compressing it. */
const ROOM = new Uint8Array(2 * MAX_SEGMENT_BYTES);

export function packSegment(segment: Segment): Packed {
  const bytes = new Uint8Array(zstdCompressSync(encodeSegment(segment, ROOM), OPTIONS));
  return { bytes, sha256: hash("sha256", bytes) };
}

/** @returns undefined where they are not what was stored. */
export function unpackSegment(bytes: Uint8Array<ArrayBuffer>, sha256: string): Segment | undefined {
  if (hash("sha256", bytes) !== sha256) return undefined;
  // Older versions stored gzip.
  const unpack = bytes[0] === GZIP_MARK ? gunzipSync : zstdDecompressSync;
  return decodeSegment(unpack(bytes, { maxOutputLength: MOST_BYTES }));
}

/** @throws {Error} If the storage has no answer in this time. */
export async function answered<T>(answer: Promise<T>, mostMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${mostMs / 1000} s`)), mostMs);
  });
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer ?? null));
}

/** @param startedAtMs When it is from, if it holds no output. */
export function factsOf({ from, to, times, frames, bytes, exit }: Segment, startedAtMs: number): SegmentFacts {
  const [fromMs, toMs] = [times[0]?.[1] ?? exit?.atMs, times.at(-1)?.[1] ?? exit?.atMs];
  return {
    ...{ from, to, fromMs: fromMs ?? startedAtMs, toMs: toMs ?? startedAtMs },
    frames: frames.map(({ offset }) => offset),
    ...(isLossyOutput(bytes) ? { isLossy: true } : {}),
  };
}

/** Whether output has bytes that are not UTF-8. A character that is cut at its start or its end is none of them. */
function isLossyOutput(bytes: Uint8Array): boolean {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return !isUtf8(splitUtf8(bytes.subarray(0, 0), bytes.subarray(start)).whole);
}
