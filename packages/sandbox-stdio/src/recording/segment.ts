// A segment: one stretch of a recording as it is stored. Binary: a mark, the length of a header, the header as JSON, the drawings
// of its key frames, and the output. What is read back may be anything: it is checked.

import type { SizeMark } from "../output/output-log.ts";
import type { TimeMark } from "../output/time-index.ts";
import { decodeUtf8, encodeUtf8, isLossy, unfinishedBytes } from "../text/utf8-text.ts";
import { MAX_COLS, MAX_ROWS, MIB } from "../wire/constants.ts";
import { EXIT_STATUS } from "../wire/inner-messages.ts";
import {
  checkShape,
  isArrayOf,
  isBoolean,
  isInteger,
  isObject,
  isOffset,
  isRecord,
  isString,
  isTime,
} from "../wire/schema.ts";

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

/** The output of one segment at most, and all of it as it is stored, before compression. */
export const MAX_SEGMENT_BYTES = MIB;
export const MAX_STORED_SEGMENT = 4 * MIB;

/** "SBXR", and the version. */
const MAGIC = Uint8Array.of(0x53, 0x42, 0x58, 0x52, 1);
const PREFIX_BYTES = MAGIC.length + 4;
const MAX_LIST = 2 * MIB;
const MAX_FRAME_BYTES = 128 * 1024;

const cols = isInteger(1, MAX_COLS);
const rows = isInteger(1, MAX_ROWS);
const isList = (value: unknown) => isArrayOf(isOffset, 3)(value);
/** `times` are differences: offset, time, offset, time. */
const HEADER = {
  incarnation: isString(128),
  from: isOffset,
  to: isOffset,
  tty: isBoolean,
  cols,
  rows,
  times: isArrayOf(isTime, MAX_LIST),
  sizes: isArrayOf(isList, MAX_LIST),
  frames: isArrayOf(isObject({ offset: isOffset, cols, rows, bytes: isInteger(0, MAX_FRAME_BYTES) }), 64),
  "exit?": isObject({ ...EXIT_STATUS, atMs: isTime }),
} as const;

type Header = {
  readonly incarnation: string;
  readonly from: number;
  readonly to: number;
  readonly tty: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly times: readonly number[];
  readonly sizes: readonly (readonly [number, number, number])[];
  readonly frames: readonly (Omit<KeyFrame, "ansi"> & { readonly bytes: number })[];
  readonly exit?: RecordedExit;
};

export function encodeSegment(segment: Segment): Uint8Array<ArrayBuffer> {
  const { incarnation, from, to, isTty, times, sizes, frames, bytes, exit } = segment;
  let [lastOffset, lastMs] = [from, 0];
  const header: Header = {
    ...{ incarnation, from, to, tty: isTty, cols: segment.cols, rows: segment.rows },
    times: times.flatMap(([offset, atMs]) => {
      const step = [offset - lastOffset, atMs - lastMs];
      [lastOffset, lastMs] = [offset, atMs];
      return step;
    }),
    sizes: sizes.map((size) => [size.offset, size.cols, size.rows] as const),
    frames: frames.map(({ ansi, ...frame }) => ({ ...frame, bytes: ansi.length })),
    ...(exit === undefined ? {} : { exit }),
  };
  const json = encodeUtf8(JSON.stringify(header));
  const drawings = frames.reduce((sum, { ansi }) => sum + ansi.length, 0);
  const encoded = new Uint8Array(PREFIX_BYTES + json.length + drawings + bytes.length);
  encoded.set(MAGIC);
  new DataView(encoded.buffer).setUint32(MAGIC.length, json.length);
  let at = PREFIX_BYTES;
  for (const part of [json, ...frames.map(({ ansi }) => ansi), bytes]) {
    encoded.set(part, at);
    at += part.length;
  }
  return encoded;
}

/** @returns undefined where it is no segment, or says of itself what is not so. */
export function decodeSegment(encoded: Uint8Array): Segment | undefined {
  if (encoded.length < PREFIX_BYTES || encoded.length > MAX_STORED_SEGMENT) return undefined;
  if (MAGIC.some((byte, i) => encoded[i] !== byte)) return undefined;
  const length = new DataView(encoded.buffer, encoded.byteOffset).getUint32(MAGIC.length);
  if (length > encoded.length - PREFIX_BYTES) return undefined;
  const header = readHeader(encoded.subarray(PREFIX_BYTES, PREFIX_BYTES + length));
  if (header === undefined) return undefined;
  const { incarnation, from, to, tty, exit } = header;
  let at = PREFIX_BYTES + length;
  const frames: KeyFrame[] = [];
  for (const { bytes, ...frame } of header.frames) {
    frames.push({ ...frame, ansi: encoded.subarray(at, at + bytes) });
    at += bytes;
  }
  const times: TimeMark[] = [];
  let [offset, atMs] = [from, 0];
  for (let i = 0; i + 1 < header.times.length; i += 2) {
    offset += header.times[i] ?? 0;
    atMs += header.times[i + 1] ?? 0;
    times.push([offset, atMs]);
  }
  const sizes = header.sizes.map(([offset, cols, rows]) => ({ offset, cols, rows }));
  const bytes = encoded.subarray(at);
  const isWhole = bytes.length === to - from && times[0]?.[0] === (to > from ? from : undefined);
  const isWithin = [...times.map(([offset]) => offset + 1), ...sizes, ...frames].every((place) => {
    const offset = typeof place === "number" ? place : place.offset;
    return offset >= from && offset <= to;
  });
  // Sums of what is checked by itself.
  const isTimely = times.every(([, atMs]) => isTime(atMs) === undefined);
  if (!isWhole || !isWithin || !isTimely) return undefined;
  const { cols, rows } = header;
  return { incarnation, from, to, isTty: tty, cols, rows, times, sizes, frames, bytes, ...(exit ? { exit } : {}) };
}

function readHeader(json: Uint8Array): Header | undefined {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(json));
  } catch {
    return undefined; // Cut, or of another maker.
  }
  return isRecord(value) && checkShape(value, HEADER) === undefined && areSizes(value.sizes)
    ? (value as Header)
    : undefined;
}

function areSizes(sizes: unknown): boolean {
  return (sizes as readonly (readonly number[])[]).every(
    (size) => size.length === 3 && cols(size[1]) === undefined && rows(size[2]) === undefined,
  );
}

/** Whether output has bytes that are not UTF-8. A character that is cut at its start or its end is none of them. */
export function isLossyOutput(bytes: Uint8Array): boolean {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const whole = bytes.subarray(start, bytes.length - unfinishedBytes(bytes));
  return isLossy(decodeUtf8(whole), whole);
}
