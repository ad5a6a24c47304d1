// The byte budget of *run* (U3): the first and the last half of output that is too long, cut at a nearby line end, and never
// inside a character.

import type { OutputLog } from "../output/output-log.ts";
import { joined, unfinishedBytes } from "../text/utf8-text.ts";
import { collect, type Gap } from "./output-range.ts";

const LF = 0x0a;
/** A line end counts as near within this part of a half. */
const NEAR = 1 / 4;

export type HeadTail = {
  /** Offset of the first byte, and twice the end of the log: *run* returns everything. */
  readonly from: number;
  readonly next: number;
  readonly end: number;
  /** Both streams in the order they were read, and each of them, from the same bytes. */
  readonly output: Uint8Array;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** Omitted output, which *read* can fetch. */
  readonly truncated?: { readonly from: number; readonly to: number; readonly bytes: number };
  /** Output that the log no longer holds. */
  readonly gap?: Gap;
};

/** @param from Start of this run's output. @param maxBytes Of the log, both streams together. */
export function headTail(log: OutputLog, from: number, maxBytes: number): HeadTail {
  const start = Math.max(from, log.startOffset);
  const end = log.endOffset;
  const gap = start > from ? { gap: { from, to: start } } : {};
  const base = { from, next: end, end, ...gap };
  if (end - start <= maxBytes) return { ...base, ...streams(log, [[start, end]]) };
  const half = Math.floor(maxBytes / 2);
  const headEnd = start + headLength(collect(log, start, start + half, half, "all").bytes);
  const tailFrom = end - (maxBytes - half);
  const tailStart = tailFrom + tailSkip(collect(log, tailFrom, end, maxBytes - half, "all").bytes, log, tailFrom);
  const truncated = { from: headEnd, to: tailStart, bytes: tailStart - headEnd };
  return {
    ...base,
    ...streams(log, [
      [start, headEnd],
      [tailStart, end],
    ]),
    truncated,
  };
}

function streams(log: OutputLog, ranges: readonly (readonly [number, number])[]) {
  const bytesOf = (stream: "all" | "stdout" | "stderr") =>
    joined(ranges.map(([from, to]) => collect(log, from, to, to - from, stream).bytes));
  return { output: bytesOf("all"), stdout: bytesOf("stdout"), stderr: bytesOf("stderr") };
}

/** Length of the kept head: up to its last line end if near, else to its last whole character. */
function headLength(head: Uint8Array): number {
  const lineEnd = head.lastIndexOf(LF) + 1;
  if (lineEnd > head.length * (1 - NEAR)) return lineEnd;
  return head.length - unfinishedBytes(head);
}

/** How much of the tail to skip: up to its first line end if near, else to its first character. */
function tailSkip(tail: Uint8Array, log: OutputLog, from: number): number {
  const before = collect(log, Math.max(log.startOffset, from - 3), from, 3, "all").bytes;
  if (before.at(-1) === LF) return 0;
  const lineEnd = tail.indexOf(LF) + 1;
  if (lineEnd > 0 && lineEnd < tail.length * NEAR) return lineEnd;
  let skipped = 0;
  const unfinished = unfinishedBytes(before);
  if (unfinished === 0) return 0;
  while (skipped < 3 && ((tail[skipped] ?? 0) & 0xc0) === 0x80) skipped += 1;
  return skipped;
}
