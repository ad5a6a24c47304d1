// The readers that wait for a snapshot, and when one is asked for: all share one request. Requests are kept apart, so that
// the process, which is held while one is made, is not held all the time. Knows nothing of how a snapshot is made.

import { MAX_SNAPSHOT_BYTES, STREAM_SNAPSHOT } from "../wire/constants.ts";
import { encodeFrame } from "../wire/frames.ts";
import type { OutputLog } from "./output-log.ts";
import type { Snapshot } from "./snapshot.ts";

/** A snapshot ready to be sent: `frame` is a whole binary message, type byte first, shared by all its readers. */
export type SnapshotFrame = Omit<Snapshot, "bytes"> & { readonly frame: Uint8Array };

/** Makes snapshots: a terminal beside the process, or the session object, which asks the bridge over the inner hop. */
export interface SnapshotSource {
  /** Wants one snapshot, to be handed to `SessionCore.snapshotReady`. Not called again before that, or before time is up. */
  request(): void;
}

/** After so long without an answer a request is given up. The readers that wait for it get the log's tail. */
export const SNAPSHOT_PATIENCE_MS = 2_000;
/** The process runs for at least so many times as long as it was held for the last snapshot … */
const RUN_FACTOR = 3;
/** … but no reader waits longer than this for the next request. */
const MOST_PAUSE_MS = 1_000;
/** Clients that fell behind wait so long after the last request: they get a screen a second. */
const BEHIND_INTERVAL_MS = 1_000;

type Waiter = {
  readonly isBehind: boolean;
  readonly ready: (screen: SnapshotFrame | undefined) => void;
};

export class SnapshotRequests {
  readonly #log: OutputLog;
  #source: SnapshotSource | undefined;
  readonly #now: () => number;
  /** Whether the process is held while a snapshot is made, as it is beside it: a relay need not spare it once more. */
  readonly #holdsProcess: boolean;
  readonly #waiters = new Set<Waiter>();
  #askedAtMs: number | undefined;
  /** When the next request may be made: for readers that have nothing yet, and for readers that fell behind. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #nextBehindMs = Number.NEGATIVE_INFINITY;
  /** The screen of a process that has ended: nothing comes after it. */
  #last: SnapshotFrame | undefined;
  #hasEnded = false;

  /** @param last The screen of a process that has ended, as it was stored. */
  constructor(
    log: OutputLog,
    source: SnapshotSource | undefined,
    now: () => number,
    holdsProcess: boolean,
    last: Snapshot | undefined,
  ) {
    this.#log = log;
    this.#holdsProcess = holdsProcess;
    this.#source = source;
    this.#now = now;
    if (last !== undefined) this.#last = frameOf(last);
  }

  /** Whether there is any hope of one. */
  get isPossible(): boolean {
    return this.#source !== undefined || this.#last !== undefined;
  }

  /** Whether one has been asked for and not come. */
  get isAsked(): boolean {
    return this.#askedAtMs !== undefined;
  }

  /** The screen of a process that has ended, where it is known. */
  get last(): Snapshot | undefined {
    if (this.#last === undefined) return undefined;
    const { frame, ...rest } = this.#last;
    return { ...rest, bytes: frame.subarray(1) };
  }

  /**
   * Calls back with a snapshot whose offset is in the log or ahead of it, or with undefined if none can be had in time:
   * at once, or later.
   * @param isBehind It has a screen, and fell behind: it can wait a little.
   */
  await(ready: (screen: SnapshotFrame | undefined) => void, isBehind = false): void {
    if (this.#last !== undefined) ready(this.#last);
    else if (this.#source === undefined) ready(undefined);
    else {
      this.#waiters.add({ isBehind, ready });
      this.#ask();
    }
  }

  /** A snapshot has come. It is also taken if it was not asked for, or comes late. */
  arrived(snapshot: Snapshot | undefined): void {
    const now = this.#now();
    this.#pause(now);
    const isUsable =
      snapshot !== undefined &&
      snapshot.offset >= this.#log.startOffset &&
      // Ahead of a relay's log it is met by the bytes that are on the way, but not after the last.
      (!this.#hasEnded || snapshot.offset <= this.#log.endOffset) &&
      snapshot.bytes.length <= MAX_SNAPSHOT_BYTES;
    const screen = isUsable ? frameOf(snapshot) : undefined;
    if (this.#hasEnded) this.#last = screen;
    this.#settle(screen);
  }

  /** The process has ended: the next snapshot is its last, and stays. */
  ended(): void {
    this.#hasEnded = true;
  }

  /** The source can't be asked any more: the known snapshot has to do. */
  close(): void {
    this.#source = undefined;
  }

  get nextTickMs(): number | undefined {
    if (this.#askedAtMs !== undefined) return this.#askedAtMs + SNAPSHOT_PATIENCE_MS;
    return this.#dueMs;
  }

  tick(now: number): void {
    if (this.#askedAtMs !== undefined && this.#askedAtMs + SNAPSHOT_PATIENCE_MS <= now) {
      this.#pause(now);
      this.#settle(undefined);
    }
    this.#ask();
  }

  get #dueMs(): number | undefined {
    let due: number | undefined;
    for (const { isBehind } of this.#waiters) {
      const at = isBehind ? Math.max(this.#nextMs, this.#nextBehindMs) : this.#nextMs;
      if (due === undefined || at < due) due = at;
    }
    return due;
  }

  #ask(): void {
    const now = this.#now();
    const due = this.#dueMs;
    if (this.#source === undefined || this.#askedAtMs !== undefined || due === undefined || due > now) return;
    this.#askedAtMs = now;
    this.#nextBehindMs = now + BEHIND_INTERVAL_MS;
    this.#source.request();
  }

  #pause(now: number): void {
    if (this.#askedAtMs === undefined) return;
    if (this.#holdsProcess) this.#nextMs = now + Math.min(MOST_PAUSE_MS, RUN_FACTOR * (now - this.#askedAtMs));
    this.#askedAtMs = undefined;
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
