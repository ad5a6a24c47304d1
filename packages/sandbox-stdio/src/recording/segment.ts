// A segment: one stretch of a recording as it is stored. Binary: a mark, the length of a header, the header as JSON, the drawings
// of its key frames, and the output. Its reader has compared its hash: it is what was written, or nothing.

import type { SizeMark } from "../output/output-log.ts";
import type { TimeMark } from "../output/time-index.ts";
import { decodeUtf8, encodeUtf8 } from "../text/utf8-text.ts";
import { MIB } from "../wire/constants.ts";

/** A drawing of the whole screen, pinned to an offset: it says what the terminal shows before the byte there. */
export type KeyFrame = {
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
  readonly ansi: Uint8Array;
};

export type RecordedExit = { readonly code: number; readonly signal?: string; readonly atMs: number };

export type Segment = {
  readonly incarnation: string;
  readonly from: number;
  readonly to: number;
  readonly isTty: boolean;
  /** The terminal's size at `from`. */
  readonly cols: number;
  readonly rows: number;
  /** The bytes from an offset on came at a time, up to the next mark's. Empty where there are no bytes. */
  readonly times: readonly TimeMark[];
  /** Its changes of size, the one at `to` included. */
  readonly sizes: readonly SizeMark[];
  readonly frames: readonly KeyFrame[];
  /** Output of both streams, in the order of the log. */
  readonly bytes: Uint8Array;
  /** Only in the last segment. */
  readonly exit?: RecordedExit;
};

/** The output of one segment at most. A value in a Durable Object's storage is not larger than 2 MiB. */
export const MAX_SEGMENT_BYTES = MIB;

/** "SBXR", and the version. */
const MAGIC = Uint8Array.of(0x53, 0x42, 0x58, 0x52, 2);
const PREFIX_BYTES = MAGIC.length + 4;

type Header = Omit<Segment, "bytes" | "frames"> & {
  readonly frames: readonly (Omit<KeyFrame, "ansi"> & { readonly bytes: number })[];
};

/** @param room Memory for it, if it fits. */
export function encodeSegment(segment: Segment, room?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { bytes, frames, times, ...facts } = segment;
  const header: Header = {
    ...facts,
    // Differences are smaller.
    times: times.map(([offset, atMs], i) => [offset - (times[i - 1]?.[0] ?? 0), atMs - (times[i - 1]?.[1] ?? 0)]),
    frames: frames.map(({ ansi, ...frame }) => ({ ...frame, bytes: ansi.length })),
  };
  const parts = [encodeUtf8(JSON.stringify(header)), ...frames.map(({ ansi }) => ansi), bytes];
  const length = parts.reduce((sum, { length }) => sum + length, PREFIX_BYTES);
  const encoded = room && room.length >= length ? room.subarray(0, length) : new Uint8Array(length);
  encoded.set(MAGIC);
  new DataView(encoded.buffer, encoded.byteOffset).setUint32(MAGIC.length, parts[0]?.length ?? 0);
  let at = PREFIX_BYTES;
  for (const part of parts) {
    encoded.set(part, at);
    at += part.length;
  }
  return encoded;
}

/** @returns undefined where it is of another version. */
export function decodeSegment(encoded: Uint8Array): Segment | undefined {
  if (MAGIC.some((byte, i) => encoded[i] !== byte)) return undefined;
  let at = PREFIX_BYTES + new DataView(encoded.buffer, encoded.byteOffset).getUint32(MAGIC.length);
  const header = JSON.parse(decodeUtf8(encoded.subarray(PREFIX_BYTES, at))) as Header;
  const frames = header.frames.map(({ bytes, ...frame }) => {
    at += bytes;
    return { ...frame, ansi: encoded.subarray(at - bytes, at) };
  });
  let [offset, atMs] = [0, 0];
  const times = header.times.map(([bytes, ms]): TimeMark => {
    offset += bytes;
    atMs += ms;
    return [offset, atMs];
  });
  return { ...header, times, frames, bytes: encoded.subarray(at) };
}
