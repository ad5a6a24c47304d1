// The stored state of a process that has not ended, when its session lets go of it or finds it lost.

import type { RelaySession } from "sandbox-stdio/core";
import { writersOf } from "../records/session-listing.ts";
import type { SessionRecord, SessionStore } from "../records/session-store.ts";
import type { LastLooks } from "./last-looks.ts";

/** The most time whose output can be lost while a process has no client: so often is it looked at, or does its bridge call. */
export const FIRST_LOOK_MS = 5_000;

/** The process goes on without its session. */
export function storeLeft(
  store: SessionStore,
  looks: LastLooks,
  record: SessionRecord,
  session: RelaySession,
  hasBell: boolean,
): void {
  const { log, title, lastOutputMs } = session;
  // A call that has brought nothing new needs nothing stored.
  if (log.endOffset !== record.offset || !store.hasLog) store.saveLog(log);
  looks.store();
  const stand = { offset: log.endOffset, size: log.sizeAt(log.endOffset), title, lastOutputMs };
  store.record = { ...record, ...stand, hasBell, clients: writersOf(session) };
}

/**
 * The process is gone without an exit.
 * @param session Undefined if no client was on it: the stored state stays.
 * @param nowMs As Date.now().
 */
export function storeLost(
  store: SessionStore,
  looks: LastLooks,
  record: SessionRecord,
  session: RelaySession | undefined,
  nowMs: number,
): SessionRecord {
  if (session !== undefined) store.saveLog(session.log);
  looks.store();
  const offset = session?.log.endOffset ?? record.offset;
  const { title = "", lastOutputMs } = session ?? record;
  const lost = { ...record, offset, lostAtMs: nowMs, title, lastOutputMs };
  store.record = lost;
  return lost;
}
