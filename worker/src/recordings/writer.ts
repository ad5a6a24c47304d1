// Writes the segments of one object's recordings: one after the other, tried again while the storage fails. What it can't store in time is given up: a gap in the recording, which tells it.

import { type Batch, isLossyOutput, type RecordedExit, type Segment } from "sandbox-stdio/recording";
import type { StoredSegment } from "../attach/recording-calls.ts";
import { log } from "../base/log.ts";
import type { RecordingFacts, RecordingStore } from "./store.ts";
import { type Packed, packSegment } from "./stored-bytes.ts";

/** Output that waits to be stored. Beyond, nothing is taken from the log, which drops its oldest. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
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
  /** A segment is stored, and of which recording. */
  stored(facts: RecordingFacts, segment: StoredSegment): void;
  /** Nothing waits any more. */
  idle(): void;
}

type Waiting = {
  readonly incarnation: string;
  readonly isTty: boolean;
  readonly batch: Batch;
  readonly exit?: RecordedExit;
};

export class SegmentWriter {
  readonly #ports: WriterPorts;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;

  constructor(ports: WriterPorts) {
    this.#ports = ports;
  }

  get isIdle(): boolean {
    return this.#writing === undefined;
  }

  get hasRoom(): boolean {
    return this.#waiting.reduce((sum, { batch }) => sum + batch.bytes.length, 0) < MAX_WAITING_BYTES;
  }

  /** The segments that are not stored yet. */
  waiting(incarnation: string): Segment[] {
    return this.#waiting.filter((one) => one.incarnation === incarnation).map(segmentOf);
  }

  add(one: Waiting): void {
    this.#waiting.push(one);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      this.#ports.idle();
    });
  }

  /** Of this recording nothing more is stored. */
  drop(incarnation: string): void {
    this.#waiting = this.#waiting.filter((one) => one.incarnation !== incarnation);
  }

  /** Resolves once all that waits now is stored, or given up. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #write(): Promise<void> {
    // Not in the turn in which output came.
    await new Promise((resolve) => setTimeout(resolve, 0));
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const segment = segmentOf(next);
      try {
        await this.#store(segment, await packSegment(segment));
      } catch (error) {
        log.error("a segment of a recording was given up:", error);
        const facts = this.#ports.store.get(next.incarnation);
        if (facts !== undefined && facts.removedAtMs === undefined) this.#ports.store.put({ ...facts, to: segment.to });
      }
      this.#waiting = this.#waiting.filter((one) => one !== next);
    }
  }

  async #store(segment: Segment, packed: Packed): Promise<void> {
    const { store, bucket, prefix } = this.#ports;
    // By its content: an answer that comes late, or twice, never replaces another segment.
    const key = `${prefix}/${segment.incarnation}/${segment.from}-${packed.sha256.slice(0, 16)}`;
    if (bucket !== undefined) await persistently(() => putOnce(bucket, key, packed));
    const facts = store.get(segment.incarnation);
    if (facts === undefined || facts.removedAtMs !== undefined) {
      if (bucket !== undefined) store.discard(key);
      return;
    }
    const { from, to, times, bytes, frames } = segment;
    const [fromMs, toMs] = [times[0]?.[1] ?? segment.exit?.atMs, times.at(-1)?.[1] ?? segment.exit?.atMs];
    const entry: Omit<StoredSegment, "seq" | "hash"> = {
      ...{ from, to, fromMs: fromMs ?? facts.startedAtMs, toMs: toMs ?? facts.startedAtMs },
      frames: frames.map(({ offset }) => offset),
      ...(isLossyOutput(bytes) ? { isLossy: true } : {}),
      ...{ bytes: packed.bytes.length, sha256: packed.sha256 },
      ...(bucket === undefined ? {} : { key }),
    };
    const framedAt = frames.at(-1)?.offset ?? facts.framedAt;
    const exit = segment.exit === undefined ? {} : { endedAtMs: segment.exit.atMs };
    const changed = { ...facts, ...exit, ...(framedAt === undefined ? {} : { framedAt }) };
    const added = store.add(changed, entry, bucket === undefined ? packed.bytes : undefined);
    await added.stored;
    this.#ports.stored(added.facts, { ...entry, ...added.facts.chain });
  }
}

function segmentOf({ incarnation, isTty, batch, exit }: Waiting): Segment {
  return { incarnation, isTty, ...batch, ...(exit === undefined ? {} : { exit }) };
}

async function putOnce(bucket: R2Bucket, key: string, { bytes, sha256 }: Packed): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  });
  try {
    await Promise.race([bucket.put(key, bytes, { sha256 }), late]);
  } finally {
    if (timer !== undefined) clearTimeout(timer);
  }
}

/** @throws The last error, once it has failed for long enough. */
async function persistently(attempt: () => Promise<void>): Promise<void> {
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
