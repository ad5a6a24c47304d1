// Selects the bytes that answer a *read* (D1 to D5, U3). Pure: takes the log and whether more can follow.

import type { OutputLog } from "../output/output-log.ts";
import { decodeUtf8, unfinishedBytes } from "../text/utf8-text.ts";
import { STREAM_STDERR, STREAM_STDOUT } from "../wire/constants.ts";
import { PlainText } from "./plain-text.ts";

export const MIN_READ_BYTES = 16;
export const MAX_READ_BYTES = 1_048_576;
export const USUAL_READ_BYTES = 65_536;
/** How long to wait for the end of an escape sequence. */
const MAX_WAITED_SEQUENCE = 4_096;

export type OutputFormat = "text" | "base64" | "plain";
export type StreamChoice = "all" | "stdout" | "stderr";

/** At most one of `from` and `tail`. Neither: from the start of the held log. */
export type OutputQuery = {
  readonly from?: number | undefined;
  readonly tail?: number | undefined;
  /** Ends before this offset. */
  readonly to?: number | undefined;
  /** Most bytes; only the requested stream counts. */
  readonly maxBytes?: number | undefined;
  readonly stream?: StreamChoice | undefined;
  readonly format?: OutputFormat | undefined;
};

export type Gap = { readonly from: number; readonly to: number };

export type OutputAnswer = {
  readonly ok: true;
  readonly from: number;
  /** Where to continue. */
  readonly next: number;
  /** Current end of the log. */
  readonly end: number;
  readonly gap?: Gap;
  /** Bytes of the requested stream; in a text format, of whole characters. */
  readonly bytes: Uint8Array;
};

type Taken = { readonly bytes: Uint8Array; readonly next: number };

export type OutputResult = OutputAnswer | { readonly ok: false; readonly code: "bad_offset"; readonly end: number };

/** @param canGrow Whether more output can follow: an unfinished character is then left for the next call. */
export function readOutput(log: OutputLog, query: OutputQuery, canGrow: boolean): OutputResult {
  const end = log.endOffset;
  const start = log.startOffset;
  const asked = query.tail === undefined ? (query.from ?? start) : Math.max(start, end - query.tail);
  if (asked > end) return { ok: false, code: "bad_offset", end };
  const first = Math.max(asked, start);
  const gap = asked < first ? { gap: { from: asked, to: first } } : {};
  const limit = Math.max(first, Math.min(query.to ?? end, end));
  const maxBytes = Math.min(Math.max(query.maxBytes ?? USUAL_READ_BYTES, MIN_READ_BYTES), MAX_READ_BYTES);
  const from = query.tail === undefined || query.format === "base64" ? first : afterCharacter(log, first, limit);
  const taken = collect(log, from, limit, maxBytes, query.stream ?? "all");
  // At `to` the caller chose the end itself.
  const isCut = taken.next < limit || (canGrow && limit === end && (query.to === undefined || query.to > end));
  const { bytes, next } = isCut ? wholeCharacters(log, from, limit, taken, query) : taken;
  return { ok: true, from, next, end, ...gap, bytes };
}

/** Decodes an answer's `bytes` in the requested format. The caller encodes `base64`. */
export function outputText(bytes: Uint8Array, from: number, format: "text" | "plain"): string {
  if (format === "text") return decodeUtf8(bytes);
  const plain = new PlainText();
  plain.push(bytes, from);
  plain.finish();
  return plain.drain().text;
}

/** The first `maxBytes` bytes of one stream or both, in the order they were read; `next` is the offset after them. */
export function collect(log: OutputLog, from: number, to: number, maxBytes: number, stream: StreamChoice): Taken {
  const wanted = stream === "stderr" ? STREAM_STDERR : STREAM_STDOUT;
  const bytes = new Uint8Array(Math.min(maxBytes, to - from));
  let length = 0;
  let next = from;
  while (next < to) {
    const item = log.itemAt(next, to - next);
    if (item.kind !== "bytes") break;
    const isWanted = stream === "all" || item.stream === wanted;
    const count = isWanted ? Math.min(item.length, bytes.length - length) : item.length;
    if (isWanted) log.copy(next, count, bytes, length);
    if (isWanted) length += count;
    next += count;
    if (count < item.length) break;
  }
  return { bytes: bytes.subarray(0, length), next };
}

/** Moves the start of a tail that is inside a character to after it. */
function afterCharacter(log: OutputLog, from: number, to: number): number {
  if (from <= log.startOffset) return from;
  const { bytes } = collect(log, from, Math.min(to, from + 3), 3, "all");
  let skipped = 0;
  while (skipped < bytes.length && ((bytes[skipped] ?? 0) & 0xc0) === 0x80) skipped += 1;
  if (skipped === 0) return from;
  const before = Math.max(log.startOffset, from - 3);
  const lead = collect(log, before, from, 3, "all").bytes;
  const unfinished = unfinishedBytes(lead);
  return unfinished === 0 ? from : from + skipped;
}

/** Leaves out an incomplete character or sequence at the end. */
function wholeCharacters(log: OutputLog, from: number, limit: number, taken: Taken, query: OutputQuery): Taken {
  const { bytes } = taken;
  const stream = query.stream ?? "all";
  if (query.format === "base64" || bytes.length === 0) return taken;
  if (query.format === "plain") return wholeSequences(log, from, limit, taken, stream);
  const left = unfinishedBytes(bytes);
  return left === 0 ? taken : collect(log, from, limit, bytes.length - left, stream);
}

/**
 * For `plain`, leaves out an incomplete escape sequence, and skips one longer than the budget, since it draws nothing. Gives up
 * on a sequence that does not end, so that every call makes progress.
 */
function wholeSequences(log: OutputLog, from: number, limit: number, taken: Taken, stream: StreamChoice): Taken {
  const plain = new PlainText();
  plain.push(taken.bytes, 0);
  const pending = plain.pendingFrom;
  if (pending === undefined) return taken;
  if (pending > 0) return collect(log, from, limit, pending, stream);
  let { next } = taken;
  let length = taken.bytes.length;
  while (plain.pendingFrom === 0 && next < limit) {
    const more = collect(log, next, limit, 1, stream);
    plain.push(more.bytes, length);
    length += more.bytes.length;
    next = more.next;
  }
  if (plain.pendingFrom === 0 && length < MAX_WAITED_SEQUENCE) return { bytes: taken.bytes.subarray(0, 0), next: from };
  return { bytes: taken.bytes, next };
}
