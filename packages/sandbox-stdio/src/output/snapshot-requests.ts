// The readers that wait for a snapshot, all of which share one request. Requests are spaced out, since the process is held
// while a snapshot is made. Knows nothing of how snapshots are made.

import { MAX_SNAPSHOT_BYTES, STREAM_SNAPSHOT } from "../wire/constants.ts";
import { encodeFrame } from "../wire/frames.ts";
import type { OutputLog } from "./output-log.ts";
import type { Snapshot } from "./snapshot.ts";

/** A snapshot ready to send: `frame` is a whole binary message, type byte first, shared by all readers. */
export type SnapshotFrame = Omit<Snapshot, "bytes"> & { readonly frame: Uint8Array };

/** Makes snapshots: a terminal beside the process, or the session object, which asks the bridge. */
export interface SnapshotSource {
  /** Requests one snapshot for `SessionCore.snapshotReady`. Not called again before it arrives or times out. */
  request(): void;
}

/** A request times out after this; its readers get the log's tail. */
export const SNAPSHOT_TIMEOUT_MS = 2_000;
/** The process runs for this many times as long as it was held for the last snapshot … */
const RUN_FACTOR = 3;
/** … but no reader waits longer than this for the next request. */
const MAX_PAUSE_MS = 1_000;
/** Clients that fell behind wait this long after the last request: they get one screen a second. */
const BEHIND_INTERVAL_MS = 1_000;

type Waiter = {
  readonly isBehind: boolean;
  readonly ready: (screen: SnapshotFrame | undefined) => void;
};

export class SnapshotRequests {
  readonly #log: OutputLog;
  #source: SnapshotSource | undefined;
  readonly #now: () => number;
  /** Whether making a snapshot holds the process, as in the bridge. A relay need not spare the process again. */
  readonly #holdsForSnapshots: boolean;
  readonly #waiters = new Set<Waiter>();
  #requestedAtMs: number | undefined;
  /** Earliest time of the next request: for readers without a screen, and for readers that fell behind. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #nextBehindMs = Number.NEGATIVE_INFINITY;
  /** The final screen of an ended process. */
  #last: SnapshotFrame | undefined;
  #hasEnded = false;

  /** @param last The stored final screen of an ended process. */
  constructor(
    log: OutputLog,
    source: SnapshotSource | undefined,
    now: () => number,
    holdsForSnapshots: boolean,
    last: Snapshot | undefined,
  ) {
    this.#log = log;
    this.#holdsForSnapshots = holdsForSnapshots;
    this.#source = source;
    this.#now = now;
    if (last !== undefined) this.#last = frameOf(last);
  }

  /** Whether a snapshot can be had at all. */
  get isPossible(): boolean {
    return this.#source !== undefined || this.#last !== undefined;
  }

  /** Whether a request is pending. */
  get isPending(): boolean {
    return this.#requestedAtMs !== undefined;
  }

  /** The final screen of an ended process, if known. */
  get last(): Snapshot | undefined {
    if (this.#last === undefined) return undefined;
    const { frame, ...rest } = this.#last;
    return { ...rest, bytes: frame.subarray(1) };
  }

  /**
   * Calls back, now or later, with a snapshot whose offset is in the log or ahead of it, or with undefined on timeout.
   * @param isBehind The reader has a screen but fell behind, so it can wait a little.
   */
  await(ready: (screen: SnapshotFrame | undefined) => void, isBehind = false): void {
    if (this.#last !== undefined) ready(this.#last);
    else if (this.#source === undefined) ready(undefined);
    else {
      this.#waiters.add({ isBehind, ready });
      this.#requestIfDue();
    }
  }

  /** Takes a snapshot, even one that was not requested or is late. */
  arrived(snapshot: Snapshot | undefined): void {
    const now = this.#now();
    this.#pause(now);
    const isUsable =
      snapshot !== undefined &&
      snapshot.offset >= this.#log.startOffset &&
      // A snapshot ahead of a relay's log is fine while its bytes are on the way, but not after the last.
      (!this.#hasEnded || snapshot.offset <= this.#log.endOffset) &&
      snapshot.bytes.length <= MAX_SNAPSHOT_BYTES;
    const screen = isUsable ? frameOf(snapshot) : undefined;
    if (this.#hasEnded) this.#last = screen;
    this.#settle(screen);
  }

  /** The process has ended: keeps the next snapshot as the final one. */
  ended(): void {
    this.#hasEnded = true;
  }

  /** The source is gone: only the known snapshot remains. */
  close(): void {
    this.#source = undefined;
  }

  get nextTickMs(): number | undefined {
    if (this.#requestedAtMs !== undefined) return this.#requestedAtMs + SNAPSHOT_TIMEOUT_MS;
    return this.#dueMs;
  }

  tick(now: number): void {
    if (this.#requestedAtMs !== undefined && this.#requestedAtMs + SNAPSHOT_TIMEOUT_MS <= now) {
      this.#pause(now);
      this.#settle(undefined);
    }
    this.#requestIfDue();
  }

  get #dueMs(): number | undefined {
    let due: number | undefined;
    for (const { isBehind } of this.#waiters) {
      const at = isBehind ? Math.max(this.#nextMs, this.#nextBehindMs) : this.#nextMs;
      if (due === undefined || at < due) due = at;
    }
    return due;
  }

  #requestIfDue(): void {
    const now = this.#now();
    const due = this.#dueMs;
    if (this.#source === undefined || this.#requestedAtMs !== undefined || due === undefined || due > now) return;
    this.#requestedAtMs = now;
    this.#nextBehindMs = now + BEHIND_INTERVAL_MS;
    this.#source.request();
  }

  #pause(now: number): void {
    if (this.#requestedAtMs === undefined) return;
    if (this.#holdsForSnapshots) this.#nextMs = now + Math.min(MAX_PAUSE_MS, RUN_FACTOR * (now - this.#requestedAtMs));
    this.#requestedAtMs = undefined;
  }

  #settle(screen: SnapshotFrame | undefined): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const { ready } of waiters) ready(screen);
  }
}

function frameOf({ bytes, ...rest }: Snapshot): SnapshotFrame {
  return { ...rest, frame: encodeFrame(STREAM_SNAPSHOT, bytes) };
}
