// The parts of one session object, and which of them knows which. Their questions to the object itself are in its ports.

import { earliest, type Timed } from "sandbox-stdio/core";
import { type EntryEnv, giveBack, type Pass } from "../attach/entry-limits.ts";
import { readRecordingSettings } from "../attach/recording-settings.ts";
import { ResumeSigner } from "../attach/resume.ts";
import type { Actor } from "../audit/record.ts";
import { SessionAudit } from "../audit/session-audit.ts";
import { type AuditEnv, readAuditSettings } from "../audit/settings.ts";
import { AuditTrail } from "../audit/trail.ts";
import { type LogEnv, log } from "../base/log.ts";
import { CodexHub } from "../codex/hub.ts";
import { type LimitEnv, readLimits } from "../limits/limits.ts";
import { McpGateway } from "../mcp/gateway.ts";
import { SessionMetrics } from "../metrics/session-metrics.ts";
import { ProgramCalls } from "../programs/program-calls.ts";
import { Recordings } from "../recordings/recordings.ts";
import { RecordingStore } from "../recordings/store.ts";
import { isOver, SessionStore } from "../records/session-store.ts";
import { Connections } from "../session/connections.ts";
import { DetachedProcess } from "../session/detached.ts";
import { type LifecycleEnv, SessionLifecycle } from "../session/lifecycle.ts";
import { ObjectAlarm } from "../session/object-alarm.ts";
import { Parking } from "../session/parking.ts";
import { type RenewalEnv, Renewals } from "../session/renewals.ts";
import { SessionTrace } from "../session/session-trace.ts";
import { noteDeserted } from "../session/stored-process.ts";
import { Watches } from "../sockets/watches.ts";
import { type TtydEnv, TtydProxy } from "../terminal/proxy.ts";
import { SessionTickets } from "../tickets/session-tickets.ts";
import { TicketCalls } from "../tickets/ticket-calls.ts";
import { Attaching } from "./attaching.ts";

/** The bindings and variables that a session object and its parts read. */
export type SessionEnv = LifecycleEnv & RenewalEnv & TtydEnv & EntryEnv & AuditEnv & LimitEnv & LogEnv;

export interface ObjectPorts {
  /** The set of clients, or the next due time, may have changed. */
  changed(): void;
  /** A client has said something: only what its session waits for may be due earlier. */
  heard(): void;
  /** Output came: the same, and the look at its last screen. */
  outputCame(): void;
  /** Resolves when a session that is being forgotten is. */
  ending(): Promise<unknown>;
  /** Ends the process and forgets the session. @returns Whether there was one. */
  end(by: Actor): Promise<boolean>;
}

export type SessionParts = ReturnType<typeof makeParts>;

/** @throws {AuthFault} `misconfigured`. */
export function makeParts(ctx: DurableObjectState, env: SessionEnv, ports: ObjectPorts) {
  const { changed, heard, outputCame, ending, end } = ports;
  const { storage } = ctx;
  const sessionKey = ctx.id.name ?? "";
  const signer = new ResumeSigner(env.SESSION_SECRET ?? "", ctx.id.toString());
  const limits = readLimits(env);
  const settings = readAuditSettings(env);
  const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise);
  const ended = (pass: Pass) => waitUntil(giveBack(env, pass));

  const store = new SessionStore(storage);
  const tickets = new SessionTickets(storage);
  const watches = new Watches(limits);
  const metrics = new SessionMetrics({
    ...{ env, sessionKey, waitUntil },
    sandboxKey: () => store.record?.sandboxKey ?? "",
    clients: () => {
      const { record } = store;
      return record === undefined || isOver(record) ? undefined : (lifecycle.session?.attachedCount ?? 0);
    },
  });
  const { counts } = metrics;
  const { lifetimes } = watches;
  const trace = new SessionTrace(env);
  const trail = new AuditTrail(storage);
  const { retentionMs } = settings;
  const unnamedGraceMs = limits.unnamedSeconds * 1000;
  const dueMs = () => [detached.dueMs, parking.dueMs];
  const keptDueMs = () => earliest([codex.dueMs, recordings.dueMs]);
  const alarm = new ObjectAlarm({ storage, store, trail, dueMs, keptDueMs, retentionMs, unnamedGraceMs });
  const recorder = (): SessionAudit =>
    new SessionAudit({
      ...{ trail, settings },
      isTty: () => store.record?.facts.tty ?? true,
      storing: () => alarm.ensure(),
      stored: (client) => lifecycle.session?.recorded(client),
      failed: (error) => {
        log.error("the audit could not be stored:", error);
        // Input that was not stored was not acknowledged: the clients reconnect and send it again.
        ctx.abort("the audit could not be stored");
      },
    });
  const audit = settings.mode === "off" ? undefined : recorder();
  if (store.record !== undefined) {
    audit?.at(store.record.facts);
    trace.at(store.record.facts);
  }
  const renewals = new Renewals({
    ...{ env, lifetimes, tickets, sessionKey, changed },
    sandbox: () => store.record?.facts.sandbox,
  });
  const lifecycle: SessionLifecycle = new SessionLifecycle({
    ...{ env, store, limits, audit, counts, sessionKey, waitUntil, changed, outputCame },
    trace: () => trace.trace,
    isCalled: () => programs.isActive || detached.isPolling || recordings.isFollowing(Date.now()),
    get recordings() {
      return recordings;
    },
    parked: () => parking.answered(Date.now()),
  });
  const recordingStore = new RecordingStore(storage);
  const recordings: Recordings = new Recordings({
    ...{ audit, waitUntil, changed, prefix: ctx.id.toString(), bucket: env.RECORDINGS },
    settings: readRecordingSettings(env),
    store: recordingStore,
    hop: lifecycle.hop,
    alarm: () => void alarm.set(),
    removed: (incarnation) => {
      const { record } = store;
      if (record?.facts.incarnation === incarnation) store.record = { ...record, recording: undefined };
    },
    report: async ({ homeKey, incarnation, by, startedAtMs, bytes, held, removedAtMs }) => {
      if (homeKey === undefined) return false;
      const marks = { isHeld: held !== undefined, isRemoved: removedAtMs !== undefined };
      return env.TENANT.getByName(homeKey).recorded({ sessionKey, incarnation, by, startedAtMs, bytes, ...marks });
    },
  });
  const detached = new DetachedProcess(env, store, storage.kv, lifecycle);
  const connections = new Connections(ctx, {
    ...{ limits, watches, trace, counts, audit, ended, changed, heard },
    sessionMs: () => (store.record === undefined ? 0 : Date.now() - Date.parse(store.record.createdAt)),
    auth: (connection, token) => waitUntil(renewals.auth(connection, token)),
    closedByClient: () => {
      const isLast = (lifecycle.session?.attachedCount ?? 0) === 0;
      if (isLast && noteDeserted(store, Date.now())) void alarm.set();
    },
  });
  const keeping = settings.mode === "content" ? "content" : "length";
  const ttyds = new TtydProxy({ env, audit, keeping, watches, ended });
  const programs: ProgramCalls = new ProgramCalls({
    ...{ ctx, env, store, lifecycle, signer, lifetimes, limits, audit, ending, changed },
    keptUntilChanged: () => void alarm.set(),
  });
  const mcp = new McpGateway({
    ...{ storage, store, lifetimes, programs, changed, waitUntil, end, maxStreams: limits.waits },
    session: () => lifecycle.session,
  });
  const codex: CodexHub = new CodexHub({
    ...{ ctx, env, lifetimes, tickets, audit, changed, ended },
    alarm: () => void alarm.set(),
  });
  const attaching = new Attaching({
    ...{ env, store, lifecycle, signer, tickets, connections, lifetimes },
    ...{ ttyds, counts, audit, ending, waitUntil, changed },
  });
  const parking: Parking = new Parking({
    ...{ limits, sessionKey, lifecycle, connections, watches, renewals, changed },
    waits: programs.waits,
    kv: storage.kv,
    isBusy: () => {
      const isUnderWay = attaching.isUnderWay || programs.isUnderWay || detached.isPolling || renewals.isAsking;
      return isUnderWay || ttyds.isActive || recordings.isBusy || audit?.isIdle === false;
    },
    alone: (run) => ctx.blockConcurrencyWhile(run),
    alarm: () => void alarm.set(),
    report: () => metrics.flush(Date.now()),
  });
  const timed: readonly Timed[] = [
    ...[metrics, connections, lifecycle.hop],
    // The connections decide when to ask an issuer.
    { nextTickMs: () => undefined, tick: (nowMs) => waitUntil(renewals.askIssuers(nowMs)) },
    { nextTickMs: () => lifecycle.session?.nextTickMs, tick: () => lifecycle.session?.tick() },
    ...[lifecycle.looks, recordings, parking],
  ];
  programs.waits.restore();
  codex.restore();
  parking.restore();
  const ticketCalls = new TicketCalls({ store, tickets, lifetimes, audit, changed });
  return {
    ...{ store, signer, tickets, ticketCalls, lifetimes, trace, trail, audit, alarm, renewals },
    ...{ lifecycle, connections, programs, mcp, codex, attaching, detached, metrics, parking, recordings, timed },
    recordingStore,
  };
}
