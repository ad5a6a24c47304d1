// Finds places in a recording by what is known of its segments, without their output.

import type { Gap } from "../programs/output-range.ts";
import type { Segment } from "./segment.ts";

/** What is known of a stored segment. */
export type SegmentFacts = {
  readonly from: number;
  readonly to: number;
  /** When its first and its last output came. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The offsets of its key frames. */
  readonly frames: readonly number[];
  /** Whether it has bytes that are not UTF-8. */
  readonly isLossy?: boolean;
};

export type Start = {
  /** The first segment to read. */
  readonly index: number;
  /** The offset of the key frame to begin with; absent: with an empty screen. */
  readonly frame?: number;
  /** False where the screen before that segment is not known. */
  readonly isExact: boolean;
};

/** Where to begin in order to draw the screen at `offset`. @param segments Oldest first. */
export function startFor(segments: readonly SegmentFacts[], offset: number): Start {
  let index = Math.max(
    0,
    segments.findLastIndex(({ from }) => from <= offset),
  );
  for (; ; index -= 1) {
    const segment = segments[index];
    const frame = segment?.frames.findLast((at) => at <= offset);
    if (frame !== undefined) return { index, frame, isExact: true };
    const isFirst = index === 0 || segments[index - 1]?.to !== segment?.from;
    if (isFirst) return { index: Math.max(0, index), isExact: segment === undefined || segment.from === 0 };
  }
}

/** The parts between `from` and `to` that no segment has. */
export function gapsWithin(segments: readonly SegmentFacts[], from: number, to: number): Gap[] {
  const gaps: Gap[] = [];
  let at = from;
  for (const segment of segments) {
    if (segment.from >= to) break;
    if (segment.from > at) gaps.push({ from: at, to: segment.from });
    at = Math.max(at, segment.to);
  }
  if (at < to) gaps.push({ from: at, to });
  return gaps;
}

/** The segment with the output that had come by a time. @returns -1 if none had. */
export function segmentAt(segments: readonly SegmentFacts[], atMs: number): number {
  return segments.findLastIndex(({ fromMs }) => fromMs <= atMs);
}

/** Where the output that had come by a time ends. */
export function offsetAt({ times, to, from }: Segment, atMs: number): number {
  if ((times[0]?.[1] ?? Number.POSITIVE_INFINITY) > atMs) return from;
  return times.find(([, ms]) => ms > atMs)?.[0] ?? to;
}

/** When the byte at `offset` came; of the segment's end, when the one before it did. */
export function timeAt({ times }: Pick<Segment, "times">, offset: number): number | undefined {
  return (times.findLast(([at]) => at <= offset) ?? times[0])?.[1];
}
