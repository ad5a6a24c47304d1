// Makes the relay session of a session object, for a process that the bridge has announced or for one that has ended.

import {
  copyBytes,
  type InnerClient,
  type InnerHello,
  OutputLog,
  type ParkedSession,
  RelaySession,
  type SessionOptions,
  type Snapshot,
  type Trace,
  tracedUpstream,
  unparkedOptions,
} from "sandbox-stdio/core";
import { AuditedUpstream } from "../audit/audited-upstream.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { Limits } from "../limits/limits.ts";
import type { Counts } from "../metrics/counts.ts";
import { keptState } from "../programs/operations/ask-process.ts";
import type { SessionRecord, SessionStore } from "../records/session-store.ts";

/** The share of a session's places (8 of 64) reserved for drivers with a token, so that guests can't lock out the owners. */
const KEPT_SHARE = 1 / 8;

export interface MakerPorts {
  readonly store: SessionStore;
  readonly limits: Limits;
  /** Absent if no audit is kept. */
  readonly audit: SessionAudit | undefined;
  readonly counts: Counts;
  /** Absent if the session is not traced. */
  trace(): Trace | undefined;
}

type Begun = Pick<SessionOptions, "screen" | "lastScreen" | "holder" | "hasBeenHeld" | "creator">;

export class SessionMaker {
  readonly #ports: MakerPorts;
  readonly #upstream: InnerClient;

  constructor(ports: MakerPorts, upstream: InnerClient) {
    this.#ports = ports;
    this.#upstream = upstream;
  }

  /** For a running process: its log begins where the bridge says. */
  greeted(record: SessionRecord, { cols, rows, offset, holder, creator }: InnerHello): RelaySession {
    const log = new OutputLog({ cols, rows }, copyBytes(record.facts), offset);
    return this.#make(record, log, { holder, creator, screen: this.#upstream });
  }

  /** For a parked session, with the stored log if there is one; its clients are added later. */
  unparked(record: SessionRecord, parked: ParkedSession): RelaySession {
    const { log: none, ...begun } = unparkedOptions(parked, copyBytes(record.facts));
    const stored = this.#ports.store.loadLog();
    const log = stored?.endOffset === parked.end ? stored : none;
    return this.#make(record, log, { ...begun, screen: this.#upstream });
  }

  /** For a process whose exit is stored: with its log, last screen, and the clients known at its end. */
  ended(record: SessionRecord): RelaySession {
    const { lastScreen } = this.#ports.store;
    const session = this.#make(record, this.keptLog(record), { holder: "", creator: record.creator, lastScreen });
    for (const known of record.clients ?? []) session.restore({ ...known, isAbsent: true });
    if (record.exit !== undefined) session.exited(record.exit);
    else session.lost(screenBefore(this.#ports.store.kept.screen, session.log));
    return session;
  }

  /** The stored output; empty at the record's offset if nothing is stored. */
  keptLog(record: SessionRecord): OutputLog {
    return this.#ports.store.loadLog() ?? new OutputLog({ cols: 80, rows: 24 }, undefined, record.offset);
  }

  #make({ facts, asks }: SessionRecord, log: OutputLog, begun: Begun): RelaySession {
    const { audit, limits, trace, counts } = this.#ports;
    const upstream =
      audit === undefined ? this.#upstream : new AuditedUpstream(this.#upstream, audit, begun.holder ?? "");
    return new RelaySession({
      ...begun,
      asks,
      facts,
      log,
      upstream: tracedUpstream(upstream, trace()),
      recorder: audit,
      observer: {
        acknowledged: (ms) => counts.observe("ack", ms),
        gap: (bytes) => {
          counts.add("gaps");
          counts.add("gap_bytes", bytes);
        },
      },
      now: () => Date.now(),
      maxClients: limits.clients,
      keptPlaces: Math.floor(limits.clients * KEPT_SHARE),
      plainBytesPerSecond: limits.plainBytesPerSecond,
      reuseFrames: false, // send() here may keep the memory that it is given.
    });
  }
}

/** A snapshot that redraws the last screen before a loss; undefined if the log does not hold the output behind it. */
export function screenBefore(json: Uint8Array | undefined, log: OutputLog): Snapshot | undefined {
  const { ansi, offset, cols, rows, approximate } = keptState(json) ?? {};
  if (typeof ansi !== "string" || typeof offset !== "number") return undefined;
  if (typeof cols !== "number" || typeof rows !== "number") return undefined;
  if (offset < log.startOffset || offset > log.endOffset) return undefined;
  return { offset, bytes: new TextEncoder().encode(ansi), cols, rows, isExact: approximate !== true };
}
