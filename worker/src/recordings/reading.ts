// Reads a recording in the Worker, apart from its session's object, which has other things to do: the index from the object, each
// segment from where it is kept.

import { decodeSegment, offsetAt, type Segment, type SegmentFacts, segmentAt, timeAt } from "sandbox-stdio/recording";
import type { RecordingIndex, RecordingReader, StoredSegment, TellRecording } from "../attach/recording-calls.ts";
import type { SessionCalls } from "../attach/session-calls.ts";
import { log } from "../base/log.ts";
import { type ProgramAnswer, refused } from "../programs/operations/call.ts";
import { answered, factsOf, unpackSegment } from "./stored-bytes.ts";

/** A segment that has no answer in this time is not waited for. */
const ANSWER_MS = 10_000;
/** What is read one by one is asked for so many segments before: a bucket takes its time for each. */
const AHEAD = 3;
/** A reader's clock may be ahead: its "now" is not after the end of what goes on. */
const SKEW_MS = 10_000;

/** The storage fails, or does not answer: later it may. */
export class StorageFault extends Error {
  override readonly name = "StorageFault";
}

export type ReadingEnv = { readonly RECORDINGS?: R2Bucket };
type Session = DurableObjectStub<SessionCalls>;
type Found = Extract<RecordingIndex, { kind: "found" }>;
type Entry = { readonly facts: SegmentFacts } & ({ readonly stored: StoredSegment } | { readonly segment: Segment });

export class RecordingReading {
  readonly index: Found;
  /** Oldest first, those included that are not stored yet. */
  readonly segments: readonly SegmentFacts[];
  readonly #entries: readonly Entry[];
  readonly #env: ReadingEnv;
  readonly #session: Session;
  /** The segment that was asked for last, whose screen, time and output are often asked for together, and those behind it. */
  readonly #kept = new Map<number, Promise<Segment | undefined>>();
  #last = -1;

  private constructor(env: ReadingEnv, session: Session, index: Found) {
    this.#env = env;
    this.#session = session;
    this.index = index;
    const stored = index.segments.map((segment) => ({ facts: segment, stored: segment }));
    const open = index.open.map(decodeSegment).filter((segment) => segment !== undefined);
    this.#entries = [...stored, ...open.map((segment) => ({ facts: factsOf(segment, index.startedAtMs), segment }))];
    this.segments = this.#entries.map(({ facts }) => facts);
  }

  /** @param incarnation Absent: the newest. */
  static async open(
    env: ReadingEnv,
    session: Session,
    incarnation: string | undefined,
  ): Promise<RecordingReading | ProgramAnswer> {
    // The platform's type for values between objects makes every list writable.
    const index = (await session.recordingIndex(incarnation)) as unknown as RecordingIndex;
    return index.kind === "found" ? new RecordingReading(env, session, index) : absent(index.kind);
  }

  /** The same recording as it is now. @throws Once it is gone. */
  async again(): Promise<RecordingReading> {
    const reading = await RecordingReading.open(this.#env, this.#session, this.index.incarnation);
    if (reading instanceof RecordingReading) return reading;
    throw new Error("the recording was removed");
  }

  /** Streams output from an offset on (see {@link SessionCalls}). */
  async stream(from: number, reader: RecordingReader, tell: TellRecording): Promise<void> {
    await this.#session.streamRecording(this.index.incarnation, from, reader, tell);
  }

  /** @returns undefined where it is not what was stored, or has gone meanwhile: a gap. @throws {StorageFault} */
  async segment(at: number): Promise<Segment | undefined> {
    if (at !== this.#last) {
      const end = at === this.#last + 1 ? at + AHEAD : at;
      this.#last = at;
      for (const i of this.#kept.keys()) if (i < at || i > end) this.#kept.delete(i);
      for (let i = at; i <= end; i += 1) if (!this.#kept.has(i)) this.#keep(i, this.#read(i));
    }
    return this.#kept.get(at);
  }

  #keep(at: number, segment: Promise<Segment | undefined>): void {
    // Whoever asks for it hears of a fault.
    segment.catch(() => undefined);
    this.#kept.set(at, segment);
  }

  async #read(at: number): Promise<Segment | undefined> {
    const entry = this.#entries[at];
    if (entry === undefined) return undefined;
    if ("segment" in entry) return entry.segment;
    const { key, from, to, sha256 } = entry.stored;
    const { incarnation } = this.index;
    const stored =
      key === undefined
        ? this.#session.recordingSegment(incarnation, from)
        : this.#env.RECORDINGS?.get(key).then((object) => object?.arrayBuffer());
    const bytes = await answered(Promise.resolve(stored), ANSWER_MS).catch((cause: unknown) => {
      throw new StorageFault("the recording can't be read just now: ask again", { cause });
    });
    if (bytes === undefined) return undefined;
    const segment = unpackSegment(new Uint8Array(bytes), sha256);
    const isOwn = segment?.incarnation === incarnation && segment.from === from && segment.to === to;
    if (!isOwn) log.warn("a segment of a recording is not what was stored:", key ?? from);
    return isOwn ? segment : undefined;
  }

  /** Where the output that had come by a time ends. @returns The refusal of a time outside. */
  async offsetAt(atMs: number): Promise<number | ProgramAnswer> {
    const { startedAtMs, endedAtMs = Math.max(Date.now(), Math.min(atMs, Date.now() + SKEW_MS)) } = this.index;
    if (atMs < startedAtMs || atMs > endedAtMs) {
      const range = { start: new Date(startedAtMs).toISOString(), end: new Date(endedAtMs).toISOString() };
      return refused(400, "bad_offset", `the recording is from ${range.start} to ${range.end}`, range);
    }
    const at = segmentAt(this.segments, atMs);
    if (at < 0) return this.segments[0]?.from ?? 0;
    const segment = await this.segment(at);
    return segment === undefined ? (this.segments[at]?.to ?? 0) : offsetAt(segment, atMs);
  }

  /** When the byte at an offset came; at the end, when the last did. */
  async timeAt(offset: number): Promise<number> {
    const at = this.segments.findLastIndex(({ from, to }) => from <= offset && to > from);
    const segment = await this.segment(at);
    const isBehind = segment !== undefined && offset >= segment.to;
    const usual = isBehind ? this.segments[at]?.toMs : this.segments[at]?.fromMs;
    return (segment && !isBehind ? timeAt(segment, offset) : usual) ?? this.index.startedAtMs;
  }
}

export function absent(kind: "none" | "removed"): ProgramAnswer {
  if (kind === "removed") return refused(410, "recording_removed", "the recording was removed, or has expired");
  return refused(404, "not_recorded", "there is no recording of this process");
}
