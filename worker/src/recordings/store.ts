// What a session object stores of its recordings: for each its facts, and the facts of its segments in a chain of hashes. Without a
// bucket also the segments. A recording outlives its process and its session.

import type { StoredSegment } from "../attach/recording-calls.ts";
import { CHAIN_START, type ChainPoint, chained } from "../audit/chain.ts";

export type RecordingFacts = {
  readonly incarnation: string;
  readonly startedAtMs: number;
  readonly isTty: boolean;
  /** Its words, redacted. */
  readonly command: string;
  /** The subject of the token that started the process. */
  readonly by: string;
  /** The tenant's key. */
  readonly homeKey?: string | undefined;
  /** How many patterns are applied. */
  readonly redacted: number;
  /** Whether anything was redacted: from then on there are no key frames, which might show it. */
  readonly hasHidden: boolean;
  /** Output before this is stored, or given up. */
  readonly to: number;
  /** The last key frame. */
  readonly framedAt?: number;
  /** Stored size. */
  readonly bytes: number;
  /** The last segment in its chain. */
  readonly chain: ChainPoint;
  readonly endedAtMs?: number;
  readonly held?: { readonly reason: string; readonly by: string; readonly atMs: number };
  /** When the recording was removed or expired; nothing else of it is left. */
  readonly removedAtMs?: number;
};

export type SegmentEntry = Omit<StoredSegment, "seq" | "hash">;

const FACTS = "recording/facts/";
const SEGMENT = "recording/segment/";
const BLOB = "recording/blob/";
/** Keys in the bucket whose objects have yet to be deleted. */
const TRASH = "recording/trash/";
const UNCONFIRMED = { allowUnconfirmed: true } as const;
/** How long a removed recording is remembered. */
export const TOMBSTONE_MS = 90 * 24 * 60 * 60_000;

export class RecordingStore {
  readonly #storage: DurableObjectStorage;
  /** What is asked for with every segment is kept in memory, too: of each recording its facts, and its oldest segment. */
  #facts: Map<string, RecordingFacts> | undefined;
  readonly #oldest = new Map<string, StoredSegment | undefined>();

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Newest first, those that were removed included. */
  all(): RecordingFacts[] {
    return [...this.#known.values()].sort((a, b) => b.startedAtMs - a.startedAtMs);
  }

  get #known(): Map<string, RecordingFacts> {
    this.#facts ??= new Map(
      [...this.#storage.kv.list<RecordingFacts>({ prefix: FACTS })].map(([, facts]) => [facts.incarnation, facts]),
    );
    return this.#facts;
  }

  get(incarnation: string): RecordingFacts | undefined {
    return this.#known.get(incarnation);
  }

  put(facts: RecordingFacts): void {
    this.#known.set(facts.incarnation, facts);
    void this.#storage.put(FACTS + facts.incarnation, facts, UNCONFIRMED);
  }

  /** Oldest first. */
  segments(incarnation: string): StoredSegment[] {
    const prefix = `${SEGMENT}${incarnation}/`;
    return [...this.#storage.kv.list<StoredSegment>({ prefix })].map(([, segment]) => segment);
  }

  oldest(incarnation: string): StoredSegment | undefined {
    if (!this.#oldest.has(incarnation)) {
      const [first] = this.#storage.kv.list<StoredSegment>({ prefix: `${SEGMENT}${incarnation}/`, limit: 1 });
      this.#oldest.set(incarnation, first?.[1]);
    }
    return this.#oldest.get(incarnation);
  }

  /** Stores segments, and the facts of their recording, all or nothing. @param parts `blob` is not in the bucket. */
  add(
    facts: RecordingFacts,
    parts: readonly { readonly entry: SegmentEntry; readonly blob?: Uint8Array }[],
  ): { readonly facts: RecordingFacts; readonly segments: readonly StoredSegment[]; readonly stored: Promise<void> } {
    const { incarnation } = facts;
    const entries: Record<string, unknown> = {};
    const segments: StoredSegment[] = [];
    let [last, { bytes }] = [facts.chain, facts];
    for (const { entry, blob } of parts) {
      const link = chained(last, entry);
      last = { seq: link.seq, hash: link.hash };
      bytes += entry.bytes;
      segments.push(link);
      const key = `${incarnation}/${padded(entry.from)}`;
      entries[SEGMENT + key] = link;
      if (blob !== undefined) entries[BLOB + key] = blob;
    }
    const now = { ...facts, chain: last, bytes };
    entries[FACTS + incarnation] = now;
    this.#known.set(incarnation, now);
    if (this.#oldest.get(incarnation) === undefined) this.#oldest.delete(incarnation);
    const stored = this.#storage.put(entries, UNCONFIRMED).then(() => this.#storage.sync());
    return { facts: now, segments, stored };
  }

  blob(incarnation: string, from: number): Uint8Array | undefined {
    return this.#storage.kv.get<Uint8Array>(`${BLOB}${incarnation}/${padded(from)}`);
  }

  /** Drops segments of a recording. @returns Its facts without them. */
  drop(facts: RecordingFacts, segments: readonly StoredSegment[]): RecordingFacts {
    this.#oldest.delete(facts.incarnation);
    const left = this.#storage.transactionSync(() => {
      let { bytes } = facts;
      for (const segment of segments) {
        const key = `${facts.incarnation}/${padded(segment.from)}`;
        this.#storage.kv.delete(SEGMENT + key);
        if (segment.key === undefined) this.#storage.kv.delete(BLOB + key);
        else this.#storage.kv.put(TRASH + segment.key, true);
        bytes -= segment.bytes;
      }
      const left = { ...facts, bytes: Math.max(0, bytes) };
      this.#storage.kv.put(FACTS + facts.incarnation, left);
      return left;
    });
    this.#known.set(facts.incarnation, left);
    return left;
  }

  /** Removes all of a recording but the fact that it was there. */
  remove(facts: RecordingFacts, nowMs: number): void {
    const { incarnation, startedAtMs, isTty, by, homeKey } = this.drop(facts, this.segments(facts.incarnation));
    const nothing = {
      command: "",
      redacted: 0,
      hasHidden: false,
      to: 0,
      bytes: 0,
      chain: CHAIN_START,
      removedAtMs: nowMs,
    };
    this.put({ incarnation, startedAtMs, isTty, by, homeKey, ...nothing });
  }

  forget(incarnation: string): void {
    this.#known.delete(incarnation);
    this.#storage.kv.delete(FACTS + incarnation);
  }

  /** Has the object under this key deleted, which no segment refers to. */
  discard(key: string): void {
    this.#storage.kv.put(TRASH + key, true);
  }

  /** Deletes discarded objects in the bucket. On failure they stay listed for the next call. */
  async empty(bucket: R2Bucket | undefined): Promise<void> {
    const keys = [...this.#storage.kv.list({ prefix: TRASH, limit: 1000 })].map(([key]) => key.slice(TRASH.length));
    if (keys.length === 0 || bucket === undefined) return;
    await bucket.delete(keys);
    for (const key of keys) this.#storage.kv.delete(TRASH + key);
  }
}

/** The platform sorts keys as text. */
function padded(offset: number): string {
  return String(offset).padStart(16, "0");
}
