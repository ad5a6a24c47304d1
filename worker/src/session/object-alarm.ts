// The object's alarm: wakes it to poll a detached process, to end or delete its session, and to delete old records.

import { earliest } from "sandbox-stdio/core";
import type { AuditTrail } from "../audit/trail.ts";
import { keptUntilMs, type SessionStore } from "../records/session-store.ts";
import { desertedEndMs } from "./stored-process.ts";

/** What the alarm depends on. */
export type AlarmSources = {
  readonly storage: DurableObjectStorage;
  readonly store: SessionStore;
  readonly trail: AuditTrail;
  /** Further times at which an evicted object has something to do; infinity for never. */
  readonly dueMs: () => readonly number[];
  /** The same, whether there is a session or not. */
  readonly keptDueMs: () => number;
  /** How long a record of the audit is kept. */
  readonly retentionMs: number;
  /** How long the client of an unnamed session may take to come back. */
  readonly unnamedGraceMs: number;
};

export class ObjectAlarm {
  readonly #sources: AlarmSources;
  #isSet = false;

  constructor(sources: AlarmSources) {
    this.#sources = sources;
  }

  /** Sets the alarm again after the stored data or its end time has changed. */
  async set(): Promise<void> {
    const { storage, store, trail, keptDueMs, retentionMs, unnamedGraceMs } = this.#sources;
    const { record } = store;
    const session =
      record === undefined
        ? []
        : [keptUntilMs(record), desertedEndMs(record, unnamedGraceMs), ...this.#sources.dueMs()];
    const dueMs = earliest([...session, keptDueMs(), trail.deletionDueMs(retentionMs, Date.now())]);
    this.#isSet = dueMs !== Number.POSITIVE_INFINITY;
    // No outgoing message waits for this write.
    if (this.#isSet) await storage.setAlarm(dueMs, { allowUnconfirmed: true });
    else await storage.deleteAlarm({ allowUnconfirmed: true });
  }

  /** Stores an alarm together with this object's first record, which has to be deleted one day. */
  ensure(): void {
    if (!this.#isSet) void this.set();
  }

  /** Deletes records that are old enough. @returns What to do with the session. */
  ring(nowMs: number): "forget" | "end" | "keep" {
    const { store, trail, retentionMs, unnamedGraceMs } = this.#sources;
    trail.deleteBefore(new Date(nowMs - retentionMs).toISOString());
    const { record } = store;
    if (record === undefined) return "keep";
    if (keptUntilMs(record) <= nowMs) return "forget";
    const endMs = desertedEndMs(record, unnamedGraceMs);
    return endMs !== undefined && endMs <= nowMs ? "end" : "keep";
  }
}
