// What a session object knows of its process: one union, which all of its parts ask.

import type { ParkedSession, RelaySession } from "sandbox-stdio/core";
import { isOver, type SessionRecord } from "../records/session-store.ts";

/** Polling interval of a detached process at first: at most this much output is lost if its container dies. */
export const FIRST_POLL_MS = 5_000;

/** What is stored of a parked session. */
export type Parked = {
  /** Tells this parking from earlier ones, whose remains don't count. */
  readonly epoch: string;
  readonly session: ParkedSession;
  /** Until when its clients' places are kept. */
  readonly untilMs: number;
  readonly isWarned: boolean;
};

export type ProcessState =
  /** There is none: the next attach, or a program's call, starts one. */
  | { readonly at: "absent" }
  /** It runs, and clients or programs follow it through this object. */
  | { readonly at: "running"; readonly record: SessionRecord; readonly session: RelaySession }
  /** It runs, its clients are attached, and this object may be evicted. */
  | {
      readonly at: "parked";
      readonly record: SessionRecord;
      readonly session: RelaySession;
      readonly parked: Parked;
    }
  /** It runs, as far as is known, and nothing in this object follows it. */
  | { readonly at: "detached"; readonly record: SessionRecord }
  /** It has ended, and what is kept of it has not all arrived: its last screen, for example. */
  | { readonly at: "ending"; readonly record: SessionRecord; readonly session: RelaySession }
  /** Its exit is stored. There is a session while clients or programs read what is kept. */
  | { readonly at: "ended"; readonly record: SessionRecord; readonly session: RelaySession | undefined }
  /** It is gone without an exit. */
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
