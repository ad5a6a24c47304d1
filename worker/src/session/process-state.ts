// The state of a session object's process, as one union that all of its parts read.

import type { ParkedSession, RelaySession } from "sandbox-stdio/core";
import { isOver, type SessionRecord } from "../records/session-store.ts";

/** Polling interval of a detached process at first: at most this much output is lost if its container dies. */
export const FIRST_POLL_MS = 5_000;

/** The stored state of a parked session. */
export type Parked = {
  /** Identifies this parking; state from earlier ones is ignored. */
  readonly epoch: string;
  readonly session: ParkedSession;
  /** Until when the clients' places are kept. */
  readonly untilMs: number;
  readonly isWarned: boolean;
};

export type ProcessState =
  /** No process: the next attach or a program's call starts one. */
  | { readonly at: "absent" }
  /** The process runs, and clients or programs follow it through this object. */
  | { readonly at: "running"; readonly record: SessionRecord; readonly session: RelaySession }
  /** The process runs, its clients are attached, and this object may be evicted. */
  | {
      readonly at: "parked";
      readonly record: SessionRecord;
      readonly session: RelaySession;
      readonly parked: Parked;
    }
  /** The process runs as far as is known, and nothing in this object follows it. */
  | { readonly at: "detached"; readonly record: SessionRecord }
  /** The process has ended, but its last screen or other data to be stored has not arrived. */
  | { readonly at: "ending"; readonly record: SessionRecord; readonly session: RelaySession }
  /** The exit is stored. There is a session while clients or programs read the stored output. */
  | { readonly at: "ended"; readonly record: SessionRecord; readonly session: RelaySession | undefined }
  /** The process is gone without an exit. */
  | { readonly at: "lost"; readonly record: SessionRecord; readonly session: RelaySession | undefined };

export function processState(
  record: SessionRecord | undefined,
  session: RelaySession | undefined,
  parked: Parked | undefined,
): ProcessState {
  if (record === undefined) return { at: "absent" };
  if (isOver(record)) return { at: record.lostAtMs === undefined ? "ended" : "lost", record, session };
  if (session === undefined) return { at: "detached", record };
  if (session.hasEnded) return { at: "ending", record, session };
  return parked === undefined ? { at: "running", record, session } : { at: "parked", record, session, parked };
}
