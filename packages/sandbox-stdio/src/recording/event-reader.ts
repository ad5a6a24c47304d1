// What happens in a recording, in its order, from its segments. Begins with the screen at an offset: a key frame and the output behind
// it, as if all had come at once.

import type { SizeMark } from "../output/output-log.ts";
import { joined } from "../text/utf8-text.ts";
import { commandMarks, NO_MARKS } from "./command-marks.ts";
import type { KeyFrame, Segment } from "./segment.ts";

/** Times are as Date.now(). */
export type RecordedEvent =
  | { readonly kind: "output"; readonly atMs: number; readonly bytes: Uint8Array }
  | { readonly kind: "size"; readonly atMs: number; readonly cols: number; readonly rows: number }
  /** A command starts. */
  | { readonly kind: "command"; readonly atMs: number; readonly line: string }
  /** Output between these offsets is not in the recording. */
  | { readonly kind: "gap"; readonly atMs: number; readonly from: number; readonly to: number }
  | { readonly kind: "exit"; readonly atMs: number; readonly code: number; readonly signal?: string };

export type EventRange = {
  /** Where the events begin. */
  readonly from: number;
  readonly to: number;
  /** When that was: the output before `from` that draws the screen there comes now. */
  readonly atMs: number;
  /** The screen that the first segment's output is drawn on. Absent: an empty one, of the first segment's size. */
  readonly frame?: KeyFrame | undefined;
};

type Point =
  | { readonly offset: number; readonly atMs: number }
  | { readonly offset: number; readonly size: Pick<SizeMark, "cols" | "rows"> }
  | { readonly offset: number; readonly frame: KeyFrame }
  | { readonly offset: number; readonly line: string };

export class EventReader {
  readonly #range: EventRange;
  #marks = NO_MARKS;
  /** Output before this has been read. */
  #at: number;
  /** Whether the next segment is the first, and nothing is drawn before it. */
  #isFirst: boolean;
  #nowMs: number;
  #size: { cols: number; rows: number } | undefined;
  /** Its time is that of the output that follows. */
  #lateSize: { cols: number; rows: number } | undefined;
  /** What is drawn before the events begin. */
  #before: Uint8Array[] = [];
  /** Output is missing, and no key frame has come since. */
  #isBroken = false;

  constructor(range: EventRange) {
    this.#range = range;
    this.#at = range.frame?.offset ?? range.from;
    this.#isFirst = range.frame === undefined;
    this.#nowMs = range.atMs;
    if (range.frame === undefined) return;
    this.#size = { cols: range.frame.cols, rows: range.frame.rows };
    this.#before.push(range.frame.ansi);
  }

  /** Output before this has been read. */
  get offset(): number {
    return this.#at;
  }

  /** @param segment The next one. Output before it that has not been read is a gap. */
  read(segment: Segment): RecordedEvent[] {
    const events: RecordedEvent[] = [];
    if (this.#isFirst) this.#at = Math.min(segment.from, this.#at);
    this.#isFirst = false;
    if (segment.from > this.#at) events.push(...this.gapTo(segment.from));
    const points = this.#pointsOf(segment);
    this.#lateSize = undefined;
    this.#resize(segment.sizes.findLast(({ offset }) => offset <= this.#at) ?? segment, events);
    for (const point of points) {
      if (point.offset > this.#range.to) break;
      this.#output(segment, point.offset, events);
      if ("atMs" in point) this.#nowMs = Math.max(this.#nowMs, point.atMs);
      else if ("size" in point) {
        // Behind the last output: nobody saw it before what comes next.
        if (point.offset === segment.to && segment.exit === undefined) this.#lateSize = point.size;
        else this.#resize(point.size, events);
      } else if ("line" in point) this.#add({ kind: "command", atMs: this.#nowMs, line: point.line }, events);
      else if (this.#isBroken) {
        this.#isBroken = false;
        this.#resize(point.frame, events);
        this.#show(point.frame.ansi, events);
      }
    }
    this.#output(segment, Math.min(segment.to, this.#range.to), events);
    const { exit } = segment;
    if (exit !== undefined && segment.to <= this.#range.to) {
      const { atMs, ...status } = exit;
      this.#add({ kind: "exit", atMs: Math.max(atMs, this.#nowMs), ...status }, events);
    }
    return events;
  }

  /** Output up to `offset` is not in the recording. */
  gapTo(offset: number): RecordedEvent[] {
    const events: RecordedEvent[] = [];
    const from = this.offset;
    const to = Math.min(offset, this.#range.to);
    if (to <= from) return events;
    this.#isBroken = true;
    this.#marks = NO_MARKS;
    this.#at = to;
    if (to > this.#range.from) this.#add({ kind: "gap", atMs: this.#nowMs, from, to }, events);
    return events;
  }

  /** Nothing more is read: what is drawn before the events begin, if they have not. */
  end(): RecordedEvent[] {
    const events: RecordedEvent[] = [];
    this.#begin(events);
    if (this.#lateSize !== undefined) this.#resize(this.#lateSize, events);
    return events;
  }

  /** In their order. */
  #pointsOf({ from, times, sizes, frames, bytes }: Segment): Point[] {
    const isAhead = ({ offset }: Point) => offset >= this.#at;
    const passed = times.findLast(([offset]) => offset <= this.#at);
    const { marks, state } = commandMarks(this.#marks, bytes.subarray(this.#at - from), this.#at);
    this.#marks = state;
    if (passed !== undefined && this.#at >= this.#range.from) this.#nowMs = Math.max(this.#nowMs, passed[1]);
    return [
      // Marks of earlier output.
      ...marks,
      ...times.map(([offset, atMs]) => ({ offset, atMs })),
      ...sizes.map(({ offset, ...size }) => ({ offset, size })),
      ...frames.map((frame) => ({ offset: frame.offset, frame })),
    ]
      .filter(isAhead)
      .sort((a, b) => a.offset - b.offset);
  }

  #output({ from, bytes }: Segment, to: number, events: RecordedEvent[]): void {
    // The bytes before the events begin, and those behind.
    for (const end of [Math.min(to, this.#range.from), to]) {
      if (end > this.#at) this.#show(bytes.subarray(this.#at - from, end - from), events);
      this.#at = Math.max(this.#at, end);
    }
  }

  #show(bytes: Uint8Array, events: RecordedEvent[]): void {
    if (this.#at < this.#range.from) this.#before.push(bytes);
    else this.#add({ kind: "output", atMs: this.#nowMs, bytes }, events);
  }

  #resize({ cols, rows }: Pick<SizeMark, "cols" | "rows">, events: RecordedEvent[]): void {
    const known = this.#size;
    this.#size = { cols, rows };
    if (known === undefined || (known.cols === cols && known.rows === rows)) return;
    this.#begin(events);
    events.push({ kind: "size", atMs: this.#nowMs, cols, rows });
  }

  #add(event: RecordedEvent, events: RecordedEvent[]): void {
    if (this.#at < this.#range.from) return;
    this.#begin(events);
    events.push(event);
  }

  #begin(events: RecordedEvent[]): void {
    const parts = this.#before;
    if (parts.length === 0) return;
    this.#before = [];
    events.push({ kind: "output", atMs: this.#range.atMs, bytes: joined(parts) });
  }
}
