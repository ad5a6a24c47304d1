// A recording as an asciicast (G3), event by event, and on while the process runs.

import {
  CAST_COMMENT,
  CAST_TYPE,
  CastWriter,
  EventReader,
  gapsWithin,
  type RecordedEvent,
  startFor,
} from "sandbox-stdio/recording";
import type { SessionCalls } from "../attach/session-calls.ts";
import { log } from "../base/log.ts";
import { type ProgramAnswer, refused } from "../programs/operations/call.ts";
import { QUIET_MS } from "../programs/respond.ts";
import { type ReadingEnv, RecordingReading } from "./reading.ts";

/** A line that follows keeps others company for so long. */
const FOLLOW_STEP_MS = 250;

export type CastAsked = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly idleLimit?: number | undefined;
  readonly follow?: number | undefined;
};

export interface CastPorts {
  readonly env: ReadingEnv;
  readonly session: DurableObjectStub<SessionCalls>;
  /** Lets a stream in that goes on. @returns The refusal, if there is one. */
  enter(): Promise<ProgramAnswer | undefined>;
  leave(): void;
  /** Whether the caller may still read. */
  isGood(): Promise<boolean>;
  waitUntil(promise: Promise<unknown>): void;
}

type Range = { readonly from: number; readonly to: number };

export async function castOf(
  reading: RecordingReading,
  asked: CastAsked,
  ports: CastPorts,
): Promise<Response | ProgramAnswer> {
  const range = await rangeOf(reading, asked);
  if ("status" in range) return range;
  const isFollowing = asked.follow === 1 && !reading.index.isOver && asked.to === undefined;
  if (isFollowing) {
    const refusal = await ports.enter();
    if (refusal !== undefined) return refusal;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const stream = new CastStream(writable, reading, range, asked, ports);
  ports.waitUntil(stream.run(isFollowing).finally(() => isFollowing && ports.leave()));
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
  return first > last ? refused(400, "bad_request", '"to" is before "from"') : { from: first, to: last };
}

function placeOf(reading: RecordingReading, place: string): number | Promise<number | ProgramAnswer> | ProgramAnswer {
  if (/^\d{1,15}$/.test(place)) return Number(place);
  const atMs = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(place) ? Date.parse(place) : Number.NaN;
  if (Number.isNaN(atMs)) return refused(400, "bad_request", `"${place}" is neither an offset nor an ISO time`);
  return reading.offsetAt(atMs);
}

class CastStream {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #cast: CastWriter;
  readonly #ports: CastPorts;
  readonly #range: Range;
  #reading: RecordingReading;
  #events: EventReader | undefined;
  #lastMs = 0;
  #hasExited = false;

  constructor(
    writable: WritableStream<Uint8Array>,
    reading: RecordingReading,
    range: Range,
    { idleLimit }: CastAsked,
    ports: CastPorts,
  ) {
    this.#writer = writable.getWriter();
    this.#reading = reading;
    this.#range = range;
    this.#ports = ports;
    this.#cast = new CastWriter(idleLimit === undefined ? {} : { idleLimitMs: idleLimit * 1000 });
  }

  async run(isFollowing: boolean): Promise<void> {
    try {
      await this.#segments(isFollowing ? Number.MAX_SAFE_INTEGER : this.#range.to);
      while (isFollowing && !this.#reading.index.isOver) await this.#follow();
      await this.#tell(this.#events?.end() ?? []);
      const rest = this.#cast.end(this.#lastMs);
      if (rest !== "") await this.#write(rest);
      await this.#writer.close();
    } catch (error) {
      // The reader has gone, or the recording.
      log.debug("a recording's stream ended:", error);
      await this.#writer.abort(error).catch(() => undefined);
    }
  }

  /** Writes what the index has behind what was written. @param to Where to end. */
  async #segments(to: number): Promise<void> {
    const { segments, index } = this.#reading;
    const { from } = this.#range;
    const start = startFor(segments, from);
    let at = this.#events === undefined ? start.index : this.#nextIndex();
    for (; at < segments.length && (segments[at]?.from ?? to) <= to; at += 1) {
      const segment = await this.#reading.segment(at);
      if (this.#events === undefined) {
        const frame = segment?.frames.find(({ offset }) => offset === start.frame);
        const atMs = await this.#reading.timeAt(from);
        this.#events = new EventReader({ from, to, atMs, frame });
        const { cols, rows } = frame ?? segment ?? { cols: 80, rows: 24 };
        const isLossy = segments.some((one) => one.isLossy === true && one.to > from && one.from < to);
        const more = {
          ...(isLossy ? { lossy: true } : {}),
          ...(index.redacted > 0 ? { redacted: index.redacted } : {}),
          ...(start.isExact ? {} : { approximate: true }),
        };
        const command = index.command.join(" ");
        await this.#write(this.#cast.header({ cols, rows, startMs: atMs, command, more }));
      }
      const facts = segments[at];
      await this.#tell(segment === undefined ? this.#events.gapTo(facts?.to ?? 0) : this.#events.read(segment));
    }
    await this.#beginEmpty();
    if (this.#events !== undefined && this.#events.offset >= from) await this.#tell(this.#events.end());
    const isEnd = to <= index.end || index.isOver;
    if (
      isEnd &&
      this.#events !== undefined &&
      gapsWithin(segments, this.#events.offset, Math.min(to, index.end)).length > 0
    )
      await this.#tell(this.#events.gapTo(Math.min(to, index.end)));
  }

  /** Nothing has come yet. */
  async #beginEmpty(): Promise<void> {
    if (this.#events !== undefined || this.#reading.segments.length > 0) return;
    const { startedAtMs, command } = this.#reading.index;
    this.#events = new EventReader({ from: this.#range.from, to: Number.MAX_SAFE_INTEGER, atMs: startedAtMs });
    await this.#write(this.#cast.header({ cols: 80, rows: 24, startMs: startedAtMs, command: command.join(" ") }));
  }

  #nextIndex(): number {
    const { segments, index } = this.#reading;
    const offset = this.#events?.offset ?? 0;
    const at = segments.findIndex(
      (segment) => segment.to > offset || (segment.from === segment.to && segment.from >= offset),
    );
    // The exit may have come into a segment whose bytes were written before.
    const isExitLeft = index.isOver && !this.#hasExited && segments.length > 0;
    if (at < 0) return isExitLeft ? segments.length - 1 : segments.length;
    return at;
  }

  async #follow(): Promise<void> {
    const { env, session } = this.#ports;
    const { incarnation, end } = this.#reading.index;
    const beganMs = Date.now();
    await session.recordingGrown(incarnation, end, QUIET_MS);
    if (!(await this.#ports.isGood())) throw new Error("the token or its user was revoked");
    // What comes in one moment is sent together.
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_STEP_MS));
    const reading = await RecordingReading.open(env, session, incarnation);
    if (!(reading instanceof RecordingReading)) throw new Error("the recording was removed");
    this.#reading = reading;
    const before = this.#events?.offset;
    await this.#segments(Number.MAX_SAFE_INTEGER);
    if (before === this.#events?.offset && Date.now() - beganMs >= QUIET_MS) await this.#write(CAST_COMMENT);
  }

  async #tell(events: readonly RecordedEvent[]): Promise<void> {
    let text = "";
    for (const event of events) {
      this.#lastMs = Math.max(this.#lastMs, event.atMs);
      text += this.#textOf(event);
    }
    if (text !== "") await this.#write(text);
  }

  #textOf(event: RecordedEvent): string {
    const cast = this.#cast;
    switch (event.kind) {
      case "output":
        return cast.output(event.bytes, event.atMs);
      case "size":
        return cast.resize(event.cols, event.rows, event.atMs);
      case "command":
        return cast.marker(event.line, event.atMs);
      case "gap":
        return cast.gap(event.from, event.to, event.atMs);
      case "exit":
        this.#hasExited = true;
        return cast.exit(event.code, event.atMs);
    }
  }

  #write(text: string): Promise<void> {
    return this.#writer.write(new TextEncoder().encode(text));
  }
}
