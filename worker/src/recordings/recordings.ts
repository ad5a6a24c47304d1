// The recordings of one session object, from their start to their removal. Takes output from the session's log in batches.

import {
  defined,
  type ExitStatus,
  type InnerClient,
  type OutputLog,
  type Recording,
  type RelaySession,
} from "sandbox-stdio/core";
import {
  BATCH_MS,
  type Batch,
  encodeSegment,
  MAX_SEGMENT_BYTES,
  type RecordedExit,
  Recorder,
  Redactor,
  type Segment,
} from "sandbox-stdio/recording";
import type { RecordingIndex, Removal, StoredSegment, TellRecording } from "../attach/recording-calls.ts";
import type { RecordingSettings } from "../attach/recording-settings.ts";
import { CHAIN_START } from "../audit/chain.ts";
import type { Actor } from "../audit/record.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import { log } from "../base/log.ts";
import { askProcess, keptState } from "../programs/operations/ask-process.ts";
import { QUIET_MS } from "../programs/respond.ts";
import type { SessionRecord } from "../records/session-store.ts";
import { expire, expiryMs, frameOf, makeRoom } from "./keeping.ts";
import type { RecordingFacts, RecordingStore } from "./store.ts";
import { SegmentWriter } from "./writer.ts";

/** Without clients, a session is followed for this long after its last output. */
const FOLLOW_MS = 10_000;
/** Least time between two checks for expired output. */
const EXPIRY_STEP_MS = 60 * 60_000;
/** Screens are asked for no more often than this, and in a flood, most of which scrolls off, after ten times as long. */
const FRAME_MS = 1_000;
const FLOOD_BYTES_PER_MS = 2_048;
/** Step in which a recording's size is reported to the tenant's object. */
const REPORT_BYTES = 16 * 1024 * 1024;
/** For the output that is being packed, of any session. */
const ROOM = new Uint8Array(MAX_SEGMENT_BYTES);
const SCREEN = { about: "screen", scrollback: 0, runs: false, ansi: true } as const;

export interface RecordingPorts {
  readonly settings: RecordingSettings;
  readonly store: RecordingStore;
  readonly bucket: R2Bucket | undefined;
  /** The object's own name: in the bucket, and for its tenant. */
  readonly prefix: string;
  readonly audit: SessionAudit | undefined;
  readonly hop: { readonly client: InnerClient; readonly isOpen: boolean };
  waitUntil(promise: Promise<unknown>): void;
  /** Something may be due at another time than before, or the process needed no more. */
  changed(): void;
  alarm(): void;
  /** The recording of this process was removed. */
  removed(incarnation: string): void;
  /** Reports a recording's size to the tenant. @returns Whether the tenant's recordings exceed their limit. */
  report(facts: RecordingFacts): Promise<boolean>;
}

export class Recordings {
  readonly #ports: RecordingPorts;
  readonly #writer: SegmentWriter;
  /** The running recording. */
  #current: { readonly incarnation: string; readonly isTty: boolean; readonly recorder: Recorder } | undefined;
  #session: RelaySession | undefined;
  #unwatch: (() => void) | undefined;
  #lastOutputMs = Number.NEGATIVE_INFINITY;
  /** When a process without clients is no longer followed. */
  #letGoMs = Number.POSITIVE_INFINITY;
  /** No batch is taken for its age before this. */
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  /** When and where a screen was asked for, and when one may be asked for again. */
  #frame = { offset: 0, atMs: Number.NEGATIVE_INFINITY, nextMs: Number.NEGATIVE_INFINITY };
  /** There is no room that older recordings could make. */
  #isFull = false;
  readonly #reported = new Map<string, number>();
  /** Called with more output, or at the end. */
  readonly #waiters = new Set<() => void>();

  constructor(ports: RecordingPorts) {
    this.#ports = ports;
    const { store, bucket, prefix } = ports;
    this.#writer = new SegmentWriter({
      ...{ store, bucket, prefix },
      stored: (facts, segments) => this.#stored(facts, segments),
      idle: () => {
        ports.changed();
        ports.alarm();
      },
    });
  }

  // ---- A process ---------------------------------------------------------------------------------------------------

  /** A process has started. @param wished Whether its start asked for a recording. @returns The part of `hello` (G1). */
  begin({ facts, cmd, createdAt, homeKey }: SessionRecord, by: Actor, wished: boolean): Recording | undefined {
    const { settings, store } = this.#ports;
    if (settings.mode === "off" || (settings.mode === "ask" && !wished)) return undefined;
    const { incarnation, tty: isTty } = facts;
    const startedAtMs = Date.parse(createdAt);
    const nothing = { to: 0, bytes: 0, chain: CHAIN_START, hasHidden: false };
    const redacted = settings.patterns.length;
    const command = new TextEncoder().encode(cmd.join(" "));
    if (redacted > 0) new Redactor(settings.patterns).redact(command);
    const begun = {
      incarnation,
      startedAtMs,
      isTty,
      command: new TextDecoder().decode(command),
      by: by.user,
      homeKey,
      redacted,
      ...nothing,
    };
    store.put(begun);
    // Its first output is on its way.
    this.#lastOutputMs = Date.now();
    this.#report(begun, true);
    return recordingOf(begun);
  }

  /** Follows a new or resumed session; call before its first output. */
  follow(session: RelaySession): void {
    if (this.#session === session) return;
    this.leave();
    const { incarnation, tty: isTty } = session.facts;
    const facts = this.#ports.store.get(incarnation);
    if (facts === undefined || facts.removedAtMs !== undefined) return;
    session.state.recording = recordingOf(facts);
    if (facts.endedAtMs !== undefined) return;
    this.#session = session;
    this.#current = { incarnation, isTty, recorder: this.#recorderOf(facts) };
    this.#unwatch = session.watch(() => this.#look(session.log), true);
    this.#cameAt(Date.now());
    this.#look(session.log);
  }

  /** Stops following the session, after taking its output. */
  leave(): void {
    this.flush();
    this.#letGo();
  }

  #letGo(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#session = undefined;
    this.#current = undefined;
    this.#tellWaiters();
  }

  #recorderOf({ incarnation, to, framedAt, hasHidden, isTty }: RecordingFacts): Recorder {
    const { patterns } = this.#ports.settings;
    const redactor = patterns.length === 0 ? undefined : new Redactor(patterns, isTty);
    return new Recorder(Math.max(to, this.#writer.state(incarnation).end), redactor, framedAt, hasHidden);
  }

  /** With every frame of output. */
  #look(output: OutputLog): void {
    const nowMs = Date.now();
    if (this.#current?.recorder.came(output.endOffset, output, nowMs) === true) this.#take(output, false);
    this.#cameAt(nowMs);
    if (this.#waiters.size > 0) this.#tellWaiters();
  }

  #cameAt(nowMs: number): void {
    this.#lastOutputMs = nowMs;
    this.#letGoMs = nowMs + FOLLOW_MS;
  }

  /** Takes all that has come. */
  flush(): void {
    if (this.#session !== undefined) this.#take(this.#session.log, true);
  }

  #take(output: OutputLog, isAll: boolean, exit?: RecordedExit): void {
    const current = this.#current;
    // Output that the log drops before it is taken is a gap.
    const hasRoom = this.#writer.hasRoom && !this.#isFull;
    if (current === undefined || !(hasRoom || exit !== undefined)) return;
    const { incarnation, isTty, recorder } = current;
    const { store } = this.#ports;
    const facts = store.get(incarnation);
    const add = (batch: Batch) => {
      const isLast = exit !== undefined && batch.to === output.endOffset;
      const segment = { incarnation, isTty, ...batch, ...(isLast ? { exit } : {}) };
      this.#writer.add(segment, facts?.startedAtMs ?? 0);
    };
    let { batch } = recorder.take(output, isAll, ROOM);
    if (batch === undefined && exit !== undefined) add(nothingAt(output));
    for (; batch !== undefined; { batch } = recorder.take(output, isAll, ROOM)) add(batch);
    if (recorder.hasHidden && facts?.hasHidden === false) store.put({ ...facts, hasHidden: true });
    if (isTty && exit === undefined && recorder.wantsFrame) this.#askFrame(recorder);
  }

  #askFrame(recorder: Recorder): void {
    const { hop, waitUntil } = this.#ports;
    const nowMs = Date.now();
    const { offset, atMs, nextMs } = this.#frame;
    if (!hop.isOpen || nowMs < nextMs) return;
    const rate = (recorder.offset - offset) / (nowMs - atMs);
    const waitMs = FRAME_MS * Math.min(10, Math.max(1, rate / FLOOD_BYTES_PER_MS));
    this.#frame = { offset: recorder.offset, atMs: nowMs, nextMs: nowMs + waitMs };
    const asked = askProcess(hop.client, SCREEN).then((json) => {
      const frame = frameOf(keptState(json));
      if (frame === undefined) recorder.noFrame();
      else recorder.frame(frame);
    });
    waitUntil(asked);
  }

  /**
   * The process is over: its recording ends here.
   * @param output All of its output that has come here. @param exit Absent: it was lost, or given up.
   */
  finish(incarnation: string, output: OutputLog, exit: ExitStatus | undefined, nowMs: number): void {
    const { store } = this.#ports;
    const facts = store.get(incarnation);
    if (facts === undefined || facts.removedAtMs !== undefined || facts.endedAtMs !== undefined) return;
    if (this.#writer.state(incarnation).hasExit) return;
    if (this.#current?.incarnation !== incarnation) {
      this.#current = { incarnation, isTty: facts.isTty, recorder: this.#recorderOf(facts) };
      this.#current.recorder.came(output.endOffset, output, nowMs);
    }
    this.#take(output, true, exit && { ...exit, atMs: nowMs });
    // There was no room for it: that is a gap.
    if (this.#current.recorder.offset < output.endOffset) store.put({ ...facts, to: output.endOffset });
    this.#letGo();
    // Should the object die before that, its next life ends the recording.
    this.#ports.waitUntil(this.#writer.settled().then(() => this.#ended(incarnation, nowMs)));
  }

  #ended(incarnation: string, nowMs: number): void {
    const { store, alarm } = this.#ports;
    const facts = store.get(incarnation);
    if (facts !== undefined && this.isOpen(incarnation)) store.put({ ...facts, endedAtMs: nowMs });
    this.#reportLast(incarnation);
    this.#tellWaiters();
    alarm();
  }

  /** Whether the recording of this process is known to be running. */
  isOpen(incarnation: string): boolean {
    const facts = this.#ports.store.get(incarnation);
    return facts !== undefined && facts.removedAtMs === undefined && facts.endedAtMs === undefined;
  }

  // ---- What is due -------------------------------------------------------------------------------------------------

  /** Whether a process without clients still needs the object. */
  isFollowing(nowMs: number): boolean {
    return this.#session !== undefined && this.#lastOutputMs + FOLLOW_MS > nowMs;
  }

  /** Whether anything is being stored. */
  get isBusy(): boolean {
    // Without room nothing is taken, however long it is waited for.
    return !this.#writer.isIdle || (!this.#isFull && this.#current?.recorder.dueMs !== undefined);
  }

  /** Whether a call of the bridge must be answered at once. */
  get isRecording(): boolean {
    return this.#current !== undefined;
  }

  nextTickMs(): number {
    return this.#session === undefined ? Number.POSITIVE_INFINITY : Math.min(this.#batchDueMs, this.#letGoMs);
  }

  get #batchDueMs(): number {
    return Math.max(this.#current?.recorder.dueMs ?? Number.POSITIVE_INFINITY, this.#notBeforeMs);
  }

  tick(nowMs: number): void {
    if (this.#letGoMs <= nowMs) this.#letGoMs = Number.POSITIVE_INFINITY;
    if (this.#batchDueMs > nowMs) return;
    if (this.#session !== undefined) this.#take(this.#session.log, this.#current?.recorder.isOld(nowMs) === true);
    // Without room nothing is taken.
    this.#notBeforeMs = nowMs + BATCH_MS;
  }

  // ---- What is stored ----------------------------------------------------------------------------------------------

  #stored(facts: RecordingFacts, segments: readonly StoredSegment[]): void {
    const { audit, bucket, settings } = this.#ports;
    const { incarnation } = facts;
    for (const { from, to, sha256 } of segments) audit?.note({ type: "recorded", incarnation, from, to, sha256 });
    if (bucket === undefined) this.#isFull = makeRoom(this.#ports.store, settings.maxBytes);
    this.#report(facts);
  }

  /** The tenant has no room: so many bytes of this recording's oldest output go. @returns How many went. */
  async shrink(incarnation: string, bytes: number): Promise<number> {
    const { store } = this.#ports;
    const before = store.get(incarnation)?.bytes ?? 0;
    const total = store.all().reduce((sum, facts) => sum + facts.bytes, 0);
    makeRoom(store, total - bytes, incarnation);
    await this.#empty();
    return before - (store.get(incarnation)?.bytes ?? 0);
  }

  #report(facts: RecordingFacts, isDue = false): void {
    const last = this.#reported.get(facts.incarnation);
    if (!isDue && last !== undefined && facts.bytes - last < REPORT_BYTES) return;
    this.#reported.set(facts.incarnation, facts.bytes);
    const { waitUntil, report, bucket } = this.#ports;
    const told = report(facts).then((isFull) => {
      if (bucket !== undefined) this.#isFull = isFull;
    });
    waitUntil(told.catch((error: unknown) => log.warn("a tenant was not told of a recording:", error)));
  }

  #reportLast(incarnation: string): void {
    const facts = this.#ports.store.get(incarnation);
    if (facts !== undefined) this.#report(facts, true);
  }

  // ---- Age ---------------------------------------------------------------------------------------------------------

  /** When the oldest output expires; infinity for never. */
  get dueMs(): number {
    const { store, settings } = this.#ports;
    // Not for every segment by itself.
    return Math.max(expiryMs(store, settings.keptMs), Date.now() + EXPIRY_STEP_MS);
  }

  /** Drops expired output. */
  async expire(nowMs: number): Promise<void> {
    const { store, settings } = this.#ports;
    for (const facts of expire(store, nowMs, settings.keptMs)) this.#remove(facts, nowMs);
    await this.#empty();
  }

  async #empty(): Promise<void> {
    const { store, bucket } = this.#ports;
    try {
      await store.empty(bucket);
    } catch (error) {
      log.warn("segments of recordings could not be deleted yet:", error);
    }
  }

  // ---- What is asked -----------------------------------------------------------------------------------------------

  /** @param incarnation Absent: the newest. */
  index(incarnation: string | undefined): RecordingIndex {
    const { store } = this.#ports;
    const all = store.all();
    const kept = all.filter(({ removedAtMs }) => removedAtMs === undefined);
    const facts = incarnation === undefined ? kept[0] : store.get(incarnation);
    if (facts === undefined) return { kind: incarnation === undefined && all.length > 0 ? "removed" : "none" };
    if (facts.removedAtMs !== undefined) return { kind: "removed" };
    const segments = store.segments(facts.incarnation);
    const waiting = this.#open(facts);
    // A process without output has a size.
    if (segments.length + waiting.length === 0 && this.#session?.facts.incarnation === facts.incarnation)
      waiting.push(segmentOf(facts, nothingAt(this.#session.log)));
    const { startedAtMs, endedAtMs, isTty, command, redacted } = facts;
    return {
      kind: "found",
      ...{ incarnation: facts.incarnation, startedAtMs, isTty, command, redacted },
      segments,
      open: waiting.map((segment) => encodeSegment(segment)),
      end: Math.max(facts.to, waiting.at(-1)?.to ?? 0),
      isOver: endedAtMs !== undefined || waiting.some(({ exit }) => exit !== undefined),
      ...defined({ endedAtMs }),
    };
  }

  /** The segments that are not stored yet, from an offset on. */
  #open({ incarnation, isTty, to: stored, endedAtMs }: RecordingFacts, from = stored): Segment[] {
    if (endedAtMs !== undefined) return [];
    const open = this.#writer.waiting(incarnation);
    const { recorder } = (this.#current?.incarnation === incarnation && this.#current) || {};
    const batch = recorder && this.#session && recorder.peek(this.#session.log, false, from).batch;
    if (batch !== undefined) open.push(segmentOf({ incarnation, isTty }, batch));
    return open.filter(({ to, exit }) => to > from || exit !== undefined);
  }

  /**
   * Tells output from an offset on as it comes, each piece an encoded segment, and nothing now and then while none comes. Ends with
   * the recording, or where what follows is in the storage.
   */
  async stream(incarnation: string, from: number, tell: TellRecording, reader: { isEnded: boolean }): Promise<void> {
    let toldMs = Date.now();
    for (let at = from; !reader.isEnded; ) {
      const facts = this.#ports.store.get(incarnation);
      if (facts === undefined || facts.removedAtMs !== undefined) return;
      const pieces = this.#open(facts, at);
      if ((pieces[0]?.from ?? facts.to) > at || (pieces.length === 0 && facts.endedAtMs !== undefined)) return;
      for (const piece of pieces) {
        await tell(encodeSegment(piece));
        toldMs = Date.now();
        if (piece.exit !== undefined) return;
        at = piece.to;
      }
      if (pieces.length > 0 || !(await this.#quiet(toldMs + QUIET_MS))) continue;
      await tell();
      toldMs = Date.now();
    }
  }

  /** @returns Whether nothing has come until then. */
  async #quiet(untilMs: number): Promise<boolean> {
    let come = (): void => undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isQuiet = await new Promise<boolean>((resolve) => {
      come = () => resolve(false);
      this.#waiters.add(come);
      timer = setTimeout(() => resolve(true), Math.max(0, untilMs - Date.now()));
    });
    if (timer !== undefined) clearTimeout(timer);
    this.#waiters.delete(come);
    return isQuiet;
  }

  #tellWaiters(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
  }

  /** @param incarnation Absent: all. @param by The caller: an admin, or the person that started them. */
  async remove(incarnation: string | undefined, by: Actor, isAdmin: boolean): Promise<Removal> {
    const { store } = this.#ports;
    const asked = incarnation === undefined ? store.all() : [store.get(incarnation)];
    const known = asked.filter((facts) => facts !== undefined);
    if (known.length === 0) return { kind: "none" };
    const kept = known.filter(({ removedAtMs }) => removedAtMs === undefined);
    if (kept.length === 0) return { kind: "removed" };
    if (!isAdmin && kept.some((facts) => facts.by !== by.user)) return { kind: "forbidden" };
    const held = kept.find((facts) => facts.held !== undefined);
    if (held !== undefined) return { kind: "held", reason: held.held?.reason ?? "" };
    const nowMs = Date.now();
    for (const facts of kept) {
      this.#remove(facts, nowMs);
      this.#ports.audit?.note({ type: "recording", did: "removed", incarnation: facts.incarnation }, undefined, by);
    }
    await this.#empty();
    this.#ports.alarm();
    return { kind: "done", count: kept.length };
  }

  #remove(facts: RecordingFacts, nowMs: number): void {
    const { store } = this.#ports;
    this.#writer.drop(facts.incarnation);
    store.remove(facts, nowMs);
    this.#ports.removed(facts.incarnation);
    this.#report({ ...facts, removedAtMs: nowMs }, true);
    if (this.#current?.incarnation !== facts.incarnation) return;
    if (this.#session !== undefined) this.#session.state.recording = undefined;
    this.#letGo();
  }

  /** @param reason Absent: it is held no more. @returns Whether there is such a recording; absent: it was removed. */
  hold(incarnation: string | undefined, reason: string | undefined, by: Actor): "done" | "none" | "removed" {
    const { store, audit } = this.#ports;
    const all = store.all();
    const facts =
      incarnation === undefined
        ? (all.find(({ removedAtMs }) => removedAtMs === undefined) ?? all[0])
        : store.get(incarnation);
    if (facts === undefined) return "none";
    if (facts.removedAtMs !== undefined) return "removed";
    const { held: _, ...free } = facts;
    store.put(reason === undefined ? free : { ...free, held: { reason, by: by.user, atMs: Date.now() } });
    const did = reason === undefined ? "released" : "held";
    audit?.note({ type: "recording", did, incarnation: facts.incarnation, ...defined({ reason }) }, undefined, by);
    this.#reportLast(facts.incarnation);
    this.#isFull = false;
    this.#ports.alarm();
    return "done";
  }
}

const segmentOf = ({ incarnation, isTty }: Pick<Segment, "incarnation" | "isTty">, batch: Batch): Segment => ({
  ...{ incarnation, isTty },
  ...batch,
});

function recordingOf({ startedAtMs, redacted }: RecordingFacts): Recording {
  return { since: new Date(startedAtMs).toISOString(), redacted: redacted > 0 };
}

function nothingAt(output: OutputLog): Batch {
  const at = output.endOffset;
  return { from: at, to: at, ...output.sizeAt(at), times: [], sizes: [], frames: [], bytes: new Uint8Array(0) };
}
