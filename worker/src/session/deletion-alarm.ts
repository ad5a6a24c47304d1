// The object's alarm: wakes it to look at a process without clients; when its session is to end or be deleted, and when
// records are old enough to be.

import { earliest } from "sandbox-stdio/core";
import type { AuditTrail } from "../audit/trail.ts";
import { keptUntilMs, type SessionStore } from "../records/session-store.ts";
import type { UnnamedSession } from "./unnamed.ts";

export interface AlarmPorts {
  readonly storage: DurableObjectStorage;
  readonly store: SessionStore;
  readonly unnamed: UnnamedSession;
  readonly unwatched: { readonly dueMs: number };
  readonly parking: () => { readonly dueMs: number };
  readonly trail: AuditTrail;
  /** How long a record of the audit is kept. */
  readonly retentionMs: number;
}

export class DeletionAlarm {
  readonly #ports: AlarmPorts;
  #isSet = false;

  constructor(ports: AlarmPorts) {
    this.#ports = ports;
  }

  /** Sets the alarm anew: the kept data, or the time of its end, has changed. */
  async set(): Promise<void> {
    const { storage, store, unnamed, unwatched, parking, trail, retentionMs } = this.#ports;
    const { record } = store;
    const session =
      record === undefined ? [] : [keptUntilMs(record), unnamed.endMs(record), unwatched.dueMs, parking().dueMs];
    const dueMs = earliest([...session, trail.deletionDueMs(retentionMs, Date.now())]);
    this.#isSet = dueMs !== Number.POSITIVE_INFINITY;
    // No message waits until it is on disk.
    if (this.#isSet) await storage.setAlarm(dueMs, { allowUnconfirmed: true });
    else await storage.deleteAlarm({ allowUnconfirmed: true });
  }

  /** Records are to be deleted some day: the alarm is stored together with this object's first record. */
  ensure(): void {
    if (!this.#isSet) void this.set();
  }

  /** Deletes the records that are old enough. @returns The fate of the session. */
  ring(nowMs: number): "forget" | "end" | "keep" {
    const { store, unnamed, trail, retentionMs } = this.#ports;
    trail.deleteBefore(new Date(nowMs - retentionMs).toISOString());
    const { record } = store;
    if (record === undefined) return "keep";
    if (keptUntilMs(record) <= nowMs) return "forget";
    return unnamed.endMs(record) <= nowMs ? "end" : "keep";
  }
}
