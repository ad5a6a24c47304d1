// Decides what is taken from a session's log for its recording, and when: in batches, before the log drops it. Notes when output
// came. Knows no storage and no clock.

import type { OutputLog } from "../output/output-log.ts";
import type { TimeMark } from "../output/time-index.ts";
import type { Gap } from "../programs/output-range.ts";
import type { Redactor } from "./redaction.ts";
import { type KeyFrame, MAX_SEGMENT_BYTES, type Segment } from "./segment.ts";

/** Output waits so long for more, at the longest. */
export const BATCH_MS = 30_000;
/** The share of a log that may wait: the bridge's log keeps as much, for an object that dies before it stores the batch. */
const BATCH_SHARE = 1 / 2;
/** A screen is wanted again after so much output. */
const FRAME_EVERY_BYTES = 512 * 1024;
/** What may still become a part of a match is not held back for longer. */
const MAX_HELD_MS = 4 * BATCH_MS;

/** A stretch of output, ready to be stored; `from` equals `to` where nothing was written. */
export type Batch = Omit<Segment, "incarnation" | "isTty" | "exit">;

/** `hidesMore`: something of the batch was redacted. */
type Taken = { readonly batch?: Batch; readonly gap?: Gap; readonly hidesMore?: boolean };

export class Recorder {
  readonly #redactor: Redactor | undefined;
  /** Output before this has been taken, or is given up. */
  #taken: number;
  /** Output before this has its time. */
  #seen: number;
  #times: TimeMark[] = [];
  /** When the oldest output came that was not taken. */
  #waitsSinceMs: number | undefined;
  #frames: KeyFrame[] = [];
  #framedAt: number;
  #hasHidden: boolean;

  /**
   * @param from Where the recording goes on. @param framedAt Its last key frame; absent: it starts with an empty screen.
   * @param hasHidden Whether anything of it was redacted before.
   */
  constructor(from: number, redactor?: Redactor, framedAt = from, hasHidden = false) {
    this.#hasHidden = hasHidden;
    this.#redactor = redactor;
    this.#taken = from;
    this.#seen = from;
    this.#framedAt = framedAt;
  }

  /** Output before this is taken. */
  get offset(): number {
    return this.#taken;
  }

  /** When the next batch is due; undefined while there is no output for it. */
  get dueMs(): number | undefined {
    return this.#waitsSinceMs === undefined ? undefined : this.#waitsSinceMs + BATCH_MS;
  }

  /** Whether nothing is held back any more. */
  isOld(nowMs: number): boolean {
    return this.#waitsSinceMs !== undefined && this.#waitsSinceMs + MAX_HELD_MS <= nowMs;
  }

  /** The log has output up to `end`. Called with every frame. @returns Whether a batch is to be taken now. */
  came(end: number, log: OutputLog, nowMs: number): boolean {
    if (end <= this.#seen) return false;
    const last = this.#times.at(-1);
    if (last === undefined || last[1] < nowMs) this.#times.push([this.#seen, nowMs]);
    this.#seen = end;
    this.#waitsSinceMs ??= nowMs;
    return end - this.#taken >= Math.min(log.capacityBytes * BATCH_SHARE, MAX_SEGMENT_BYTES);
  }

  /** Whether anything was redacted: from then on a drawing of the screen might show it. */
  get hasHidden(): boolean {
    return this.#hasHidden;
  }

  /** Whether the screen is to be asked for, to be handed to {@link frame}. */
  get wantsFrame(): boolean {
    return !this.#hasHidden && this.#taken - this.#framedAt >= FRAME_EVERY_BYTES;
  }

  /** The screen has come. A wrong guess of it is worse than the output behind an older one. */
  frame(frame: KeyFrame): void {
    this.#framedAt = Math.max(this.#framedAt, frame.offset);
    if (frame.offset >= this.#taken) this.#frames.push(frame);
  }

  /** Nothing will come of the screen that was asked for: asked again after as much output. */
  noFrame(): void {
    this.#framedAt = this.#taken;
  }

  /**
   * Takes what has come, or as much as a segment holds.
   * @param isAll Also what redaction holds back, because it may still become a part of a match. @param room For a segment's output.
   */
  take(log: OutputLog, isAll: boolean, room = new Uint8Array(MAX_SEGMENT_BYTES)): Taken {
    const taken = this.peek(log, isAll, 0, room);
    this.#hasHidden ||= taken.hidesMore === true;
    const to = taken.batch?.to ?? taken.gap?.to ?? this.#taken;
    this.#times = this.#timesFrom(to);
    this.#frames = this.#frames.filter(({ offset }) => offset > to);
    this.#waitsSinceMs = to < this.#seen ? (this.#times[0]?.[1] ?? this.#waitsSinceMs) : undefined;
    this.#taken = to;
    this.#redactor?.dropBefore(to);
    return taken;
  }

  /** The same, and it is still to be taken. @param after Output before this is left out. @param room Absent: for all. */
  peek(log: OutputLog, isAll: boolean, after = 0, room?: Uint8Array): Taken {
    const from = Math.max(this.#taken, log.startOffset, after);
    const gap = from > this.#taken ? { gap: { from: this.#taken, to: from } } : {};
    const waiting = Math.max(0, log.endOffset - from);
    const bytes = (room ?? new Uint8Array(waiting)).subarray(0, waiting);
    log.copy(from, bytes.length, bytes, 0);
    const held = this.#redact(log, from, bytes);
    const length = isAll ? bytes.length : Math.max(0, Math.min(bytes.length, held - from));
    const to = from + length;
    if (length === 0) return gap;
    const whole = bytes.subarray(0, length);
    const hidesMore = this.#redactor?.hasHidden === true;
    const isClean = !hidesMore && !this.#hasHidden;
    const times = this.#timesFrom(from).filter(([offset]) => offset < to);
    return {
      ...gap,
      hidesMore,
      batch: {
        ...{ from, to, times, bytes: whole, ...log.sizeAt(from) },
        sizes: log.changes.filter(({ offset }) => offset > from && offset <= to),
        frames: this.#frames.filter(({ offset }) => isClean && offset >= from && offset <= to),
      },
    };
  }

  /** Redacts output from an offset on. @returns Where that begins which may still become a part of a match. */
  #redact(log: OutputLog, from: number, bytes: Uint8Array): number {
    const redactor = this.#redactor;
    if (redactor === undefined) return log.endOffset;
    for (let at = Math.max(redactor.end, this.#taken, log.startOffset); at < log.endOffset; at = redactor.end) {
      const next = log.changes.find(({ offset }) => offset > at)?.offset ?? log.endOffset;
      const piece = new Uint8Array(Math.min(next, log.endOffset) - at);
      log.copy(at, piece.length, piece, 0);
      redactor.push(piece, at, log.sizeAt(at));
    }
    const held = redactor.settle();
    redactor.read(from, bytes);
    return held;
  }

  /** The marks for output from `from` on, of which the first stands there. */
  #timesFrom(from: number): TimeMark[] {
    const first = this.#times.findLast(([offset]) => offset <= from);
    const later = this.#times.filter(([offset]) => offset > from);
    return first === undefined || from >= this.#seen ? later : [[from, first[1]], ...later];
  }
}
