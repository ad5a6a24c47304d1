// A recording as an asciicast (G3), event by event, and on while the process runs.

import { defined } from "sandbox-stdio/core";
import {
  CAST_COMMENT,
  CAST_TYPE,
  CastWriter,
  decodeSegment,
  EventReader,
  type RecordedEvent,
  startFor,
} from "sandbox-stdio/recording";
import type { RecordingReader, TellRecording } from "../attach/recording-calls.ts";
import { log } from "../base/log.ts";
import { type ProgramAnswer, refused } from "../programs/operations/call.ts";
import type { RecordingReading } from "./reading.ts";

export type CastAsked = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly idleLimit?: string | undefined;
  readonly follow?: number | undefined;
};

export interface CastPorts {
  readonly reader: RecordingReader;
  /** Counts a stream that follows the process. @returns The refusal, if there is one. */
  enter(): Promise<ProgramAnswer | undefined>;
  leave(): void;
  waitUntil(promise: Promise<unknown>): void;
}

/** `atMs`: when it begins, if it was asked for by a time. */
type Range = { readonly from: number; readonly to: number; readonly atMs?: number };

export async function castOf(
  reading: RecordingReading,
  asked: CastAsked,
  ports: CastPorts,
): Promise<Response | ProgramAnswer> {
  const range = await rangeOf(reading, asked);
  if ("status" in range) return range;
  // What can't be read is refused, as long as nothing was answered.
  await reading.segment(startFor(reading.segments, range.from).index);
  const isFollowing = asked.follow === 1 && !reading.index.isOver && asked.to === undefined;
  if (isFollowing) {
    const refusal = await ports.enter();
    if (refusal !== undefined) return refusal;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const stream = new CastStream(writable, reading, range, asked);
  const written = stream.run(isFollowing ? ports.reader : undefined);
  ports.waitUntil(written.finally(() => isFollowing && ports.leave()));
  return new Response(readable, { headers: { "Content-Type": CAST_TYPE, "Cache-Control": "no-store" } });
}

async function rangeOf(reading: RecordingReading, { from, to }: CastAsked): Promise<Range | ProgramAnswer> {
  const { index } = reading;
  const places: number[] = [];
  for (const [place, usual] of [
    [from, 0],
    [to, index.end],
  ] as const) {
    const offset = place === undefined ? usual : await placeOf(reading, place);
    if (typeof offset !== "number") return offset;
    if (offset > index.end) {
      return refused(400, "bad_offset", `the recording ends at ${index.end}`, { end: index.end });
    }
    places.push(offset);
  }
  const [first = 0, last = 0] = places;
  if (first > last) return refused(400, "bad_request", '"to" is before "from"');
  const atMs = from === undefined || isOffset(from) ? undefined : Date.parse(from);
  return { from: first, to: last, ...defined({ atMs }) };
}

function placeOf(reading: RecordingReading, place: string): number | Promise<number | ProgramAnswer> | ProgramAnswer {
  if (isOffset(place)) return Number(place);
  const atMs = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(place) ? Date.parse(place) : Number.NaN;
  if (Number.isNaN(atMs)) return refused(400, "bad_request", `"${place}" is neither an offset nor an ISO time`);
  return reading.offsetAt(atMs);
}

function isOffset(place: string): boolean {
  return /^\d{1,15}$/.test(place);
}

class CastStream {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #cast: CastWriter;
  readonly #range: Range;
  #reading: RecordingReading;
  #events: EventReader | undefined;
  #lastMs = 0;
  #hasExited = false;

  constructor(writable: WritableStream<Uint8Array>, reading: RecordingReading, range: Range, { idleLimit }: CastAsked) {
    this.#writer = writable.getWriter();
    this.#reading = reading;
    this.#range = range;
    this.#cast = new CastWriter(idleLimit === undefined ? {} : { idleLimitMs: Number(idleLimit) * 1000 });
  }

  /** @param follower The reader that follows the process; absent: the stream ends at now. */
  async run(follower: RecordingReader | undefined): Promise<void> {
    try {
      const to = follower === undefined ? this.#range.to : Number.MAX_SAFE_INTEGER;
      const { events, index } = await this.#begin(to);
      await this.#segments(events, to, index);
      while (follower !== undefined && !this.#reading.index.isOver) {
        await this.#reading.stream(events.offset, follower, this.#came);
        this.#reading = await this.#reading.again();
        await this.#segments(events, to);
      }
      await this.#tell(events.end());
      // A character that the end of the range cuts is behind it.
      const isCut = follower === undefined && to < this.#reading.index.end;
      const rest = isCut ? "" : this.#cast.end(this.#lastMs);
      if (rest !== "") await this.#write(rest);
      await this.#writer.close();
    } catch (error) {
      // The reader has gone or may no more, or the recording has gone.
      log.debug("a recording's stream ended:", error);
      await this.#writer.abort(error).catch(() => undefined);
    }
  }

  /** @returns The reader of the events, and the index of its first segment. */
  async #begin(to: number): Promise<{ readonly events: EventReader; readonly index: number }> {
    const { segments, index } = this.#reading;
    const { from } = this.#range;
    const start = startFor(segments, from);
    const segment = await this.#reading.segment(start.index);
    const frame = segment?.frames.find(({ offset }) => offset === start.frame);
    const atMs = this.#range.atMs ?? (await this.#reading.timeAt(from));
    const { cols, rows } = frame ?? segment ?? { cols: 80, rows: 24 };
    const isLossy = segments.some((one) => one.isLossy === true && one.to > from && one.from < to);
    const more = defined({
      lossy: isLossy || undefined,
      redacted: index.redacted || undefined,
      approximate: !start.isExact || undefined,
    });
    await this.#write(this.#cast.header({ cols, rows, startMs: atMs, command: index.command, more }));
    const events = new EventReader({ from, to, atMs, frame });
    this.#events = events;
    return { events, index: start.index };
  }

  /** Writes the events that follow those already written. */
  async #segments(events: EventReader, to: number, first = this.#next(events)): Promise<void> {
    const { segments, index } = this.#reading;
    for (let at = first; at < segments.length && (segments[at]?.from ?? to) <= to; at += 1) {
      const segment = await this.#reading.segment(at);
      await this.#tell(segment === undefined ? events.gapTo(segments[at]?.to ?? 0) : events.read(segment));
    }
    if (events.offset >= this.#range.from) await this.#tell(events.end());
    await this.#tell(events.gapTo(Math.min(to, index.end)));
  }

  #next({ offset }: EventReader): number {
    const { segments, index } = this.#reading;
    const at = segments.findIndex(({ to }) => to > offset);
    if (at >= 0) return at;
    // The exit may have come into a segment whose output was written before.
    return index.isOver && !this.#hasExited && segments.length > 0 ? segments.length - 1 : segments.length;
  }

  readonly #came: TellRecording = async (encoded) => {
    if (encoded === undefined) return this.#write(CAST_COMMENT);
    const segment = decodeSegment(encoded);
    if (segment !== undefined) await this.#tell(this.#events?.read(segment) ?? []);
  };

  async #tell(events: readonly RecordedEvent[]): Promise<void> {
    let text = "";
    for (const event of events) {
      this.#lastMs = Math.max(this.#lastMs, event.atMs);
      this.#hasExited ||= event.kind === "exit";
      text += this.#cast.event(event);
    }
    if (text !== "") await this.#write(text);
  }

  #write(text: string): Promise<void> {
    return this.#writer.write(new TextEncoder().encode(text));
  }
}
