// Writes the segments of one object's recordings, several at once, tried again while the storage fails. What it can't store in time
// is given up: a gap in the recording, which tells it.

import { defined } from "sandbox-stdio/core";
import type { RecordedExit, Segment } from "sandbox-stdio/recording";
import type { StoredSegment } from "../attach/recording-calls.ts";
import { log } from "../base/log.ts";
import type { RecordingFacts, RecordingStore, SegmentEntry } from "./store.ts";
import { answered, factsOf, type Packed, packSegment, unpackSegment } from "./stored-bytes.ts";

/** Output that waits to be stored. Beyond, nothing is taken from the log, which drops its oldest. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** A disk is waited for with each write: after one, segments wait so long for others, or until there are so many bytes. */
const GATHER_MS = 100;
const ENOUGH_BYTES = 4 * 1024 * 1024;
const FIRST_RETRY_MS = 500;
const MOST_RETRY_MS = 30_000;
/** After so long a segment is given up. */
const PATIENCE_MS = 5 * 60_000;
/** A request that has no answer in this time has failed. */
const ANSWER_MS = 30_000;

export interface WriterPorts {
  readonly store: RecordingStore;
  readonly bucket: R2Bucket | undefined;
  /** Names the object's recordings in the bucket. */
  readonly prefix: string;
  /** Segments are stored, and of which recording. */
  stored(facts: RecordingFacts, segments: readonly StoredSegment[]): void;
  /** Nothing waits any more. */
  idle(): void;
}

type Waiting = {
  readonly incarnation: string;
  readonly entry: SegmentEntry;
  readonly packed: Packed;
  readonly exit?: RecordedExit | undefined;
};

export class SegmentWriter {
  readonly #ports: WriterPorts;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #storedMs = 0;
  /** Ends the wait for more. */
  #enough = (): void => undefined;

  constructor(ports: WriterPorts) {
    this.#ports = ports;
  }

  get isIdle(): boolean {
    return this.#writing === undefined;
  }

  get hasRoom(): boolean {
    return this.#waitingBytes < MAX_WAITING_BYTES;
  }

  get #waitingBytes(): number {
    return this.#waiting.reduce((sum, { entry }) => sum + entry.to - entry.from, 0);
  }

  /** Where the segments end that are not stored yet, and whether the exit is among them. */
  state(incarnation: string): { readonly end: number; readonly hasExit: boolean } {
    const last = this.#waiting.findLast((one) => one.incarnation === incarnation);
    return { end: last?.entry.to ?? 0, hasExit: last?.exit !== undefined };
  }

  /** The segments that are not stored yet. */
  waiting(incarnation: string): Segment[] {
    const own = this.#waiting.filter((one) => one.incarnation === incarnation);
    return own.map(({ packed }) => unpackSegment(packed.bytes, packed.sha256)).filter((one) => one !== undefined);
  }

  add(segment: Segment, startedAtMs: number): void {
    const { incarnation, exit } = segment;
    const packed = packSegment(segment);
    const entry = { ...factsOf(segment, startedAtMs), bytes: packed.bytes.length, sha256: packed.sha256 };
    this.#waiting.push({ incarnation, entry, packed, exit });
    if (this.#waitingBytes >= ENOUGH_BYTES) this.#enough();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      this.#ports.idle();
    });
  }

  /** Stores nothing more of this recording. */
  drop(incarnation: string): void {
    this.#waiting = this.#waiting.filter((one) => one.incarnation !== incarnation);
  }

  /** Resolves once all that waits now is stored, or given up. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    for (await this.#gather(); this.#waiting.length > 0; await this.#gather()) {
      const incarnation = this.#waiting[0]?.incarnation ?? "";
      const group = this.#waiting.filter((one) => one.incarnation === incarnation);
      try {
        await this.#store(incarnation, group);
      } catch (error) {
        log.error("segments of a recording were given up:", error);
      }
      this.#storedMs = Date.now();
      this.#waiting = this.#waiting.filter((one) => !group.includes(one));
    }
  }

  /** At least not in the turn in which output came. */
  #gather(): Promise<void> {
    const waitMs = this.#waitingBytes < ENOUGH_BYTES ? Math.max(0, this.#storedMs + GATHER_MS - Date.now()) : 0;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#enough = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #store(incarnation: string, group: readonly Waiting[]): Promise<void> {
    const { store, bucket, prefix } = this.#ports;
    // By its content: an answer that comes late, or twice, never replaces another segment.
    const keyOf = ({ entry }: Waiting) => `${prefix}/${incarnation}/${entry.from}-${entry.sha256.slice(0, 16)}`;
    const put = (one: Waiting) => {
      const { bytes, sha256 } = one.packed;
      return bucket && persistently(() => answered(bucket.put(keyOf(one), bytes, { sha256 }), ANSWER_MS));
    };
    const results = await Promise.allSettled(group.map(put));
    const kept = group.filter((_, i) => results[i]?.status === "fulfilled");
    for (const result of results)
      if (result.status === "rejected") log.error("a segment of a recording was given up:", result.reason);
    const facts = store.get(incarnation);
    if (facts === undefined || facts.removedAtMs !== undefined) {
      if (bucket !== undefined) for (const one of kept) store.discard(keyOf(one));
      return;
    }
    const last = group.at(-1);
    const framedAt = kept.findLast(({ entry }) => entry.frames.length > 0)?.entry.frames.at(-1);
    const changed = {
      ...{ ...facts, to: Math.max(facts.to, last?.entry.to ?? 0) },
      ...defined({ framedAt, endedAtMs: last?.exit?.atMs }),
    };
    const parts = kept.map((one) =>
      bucket === undefined
        ? { entry: one.entry, blob: one.packed.bytes }
        : { entry: { ...one.entry, key: keyOf(one) } },
    );
    const added = store.add(changed, parts);
    await added.stored;
    this.#ports.stored(added.facts, added.segments);
  }
}

/** @throws The last error, once it has failed for long enough. */
async function persistently(attempt: () => Promise<unknown>): Promise<unknown> {
  const untilMs = Date.now() + PATIENCE_MS;
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, MOST_RETRY_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() + waitMs >= untilMs) throw error;
      log.warn("a segment of a recording could not be stored yet:", error);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}
