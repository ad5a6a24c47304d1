// The lifecycle of a session object's process, and of the relay session that follows it: found, started, detached, parked, ended, or
// lost. Knows nothing of the clients' WebSockets.

import {
  type Ask,
  type AskEvent,
  CLOSE,
  defined,
  type InnerHello,
  type OutputLog,
  type ParkedSession,
  type ProcessWish,
  REPLACED_REASON,
  type RelaySession,
} from "sandbox-stdio/core";
import type { Attention } from "sandbox-stdio/programs";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { CommandEnv } from "../attach/command-policy.ts";
import type { RecordingEnv } from "../attach/recording-settings.ts";
import { recordedSurroundings } from "../audit/record.ts";
import { log } from "../base/log.ts";
import { refusalOf } from "../bridge/hop-refusal.ts";
import { type HopOutcome, InnerHop } from "../bridge/inner-hop.ts";
import { askBridge, attachBridge, type BridgeEnv, isAwake } from "../bridge/upstream.ts";
import type { TenantsEnv } from "../limits/limit-calls.ts";
import type { Recordings } from "../recordings/recordings.ts";
import { describeSession } from "../records/session-listing.ts";
import { isOver, type SessionRecord } from "../records/session-store.ts";
import type { LifeEnv } from "../refusal/life.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { DirectoryEnv } from "../sandbox/directory.ts";
import { type Admission, attachableOf, PROCESS_LOST } from "./admission.ts";
import { ASLEEP, askedRecord, hopParams, mayReplace, startRefusal } from "./asked-process.ts";
import { LastLooks } from "./last-looks.ts";
import { FIRST_POLL_MS, type Parked, type ProcessState, processState } from "./process-state.ts";
import { Reaching } from "./reaching.ts";
import { type MakerPorts, SessionMaker, screenBefore } from "./session-maker.ts";
import { EndedProcess, noteSession, storeLeft, storeLost } from "./stored-process.ts";

const REPLACED: Refusal = {
  code: CLOSE.notFound,
  error: "not_found",
  message: REPLACED_REASON,
};
/** How long to remember that a tenant has no webhook for attention. */
const ATTENTION_OFF_MS = 60_000;

export type Outcome =
  | { readonly ok: true; readonly session: RelaySession }
  | { readonly ok: false; readonly refusal: Refusal };

/** The bindings and variables needed to reach or start a process. */
export type LifecycleEnv = BridgeEnv & CommandEnv & DirectoryEnv & LifeEnv & RecordingEnv & TenantsEnv;

/** The parts of the Durable Object that the lifecycle uses. */
export interface LifecyclePorts extends MakerPorts {
  readonly env: LifecycleEnv;
  /** This session's name among the tenant's. */
  readonly sessionKey: string;
  waitUntil(promise: Promise<unknown>): void;
  /** A message arrived that may have changed the next due time. */
  changed(): void;
  /** Output arrived for the session's clients. */
  outputCame(): void;
  /** The bridge keeps the clients' places: this object may be evicted. */
  parked(): void;
  /** Whether a program's call, or a recording, needs the process while no client is attached. */
  isCalled(): boolean;
  readonly recordings: Recordings;
}

export class SessionLifecycle {
  readonly hop: InnerHop;
  readonly #ports: LifecyclePorts;
  #session: RelaySession | undefined;
  /** The attach that a new process is started for. */
  #startedFor: AttachSpec | undefined;
  /** Set while the session is parked. */
  parked: Parked | undefined;
  /** Whether clients have been told that the inner hop is broken. */
  #isHopLossTold = false;
  #attentionOffUntilMs = 0;
  readonly reaching: Reaching;
  readonly looks: LastLooks;
  readonly #maker: SessionMaker;
  readonly #ended: EndedProcess;

  constructor(ports: LifecyclePorts) {
    this.#ports = ports;
    this.hop = new InnerHop({
      attach: (signal) => this.#attachBridge(signal),
      // If the process is known, its container is running.
      mayStart: () => ports.store.record === undefined && !ports.env.BRIDGE_URL,
      hello: (hello) => this.#adopt(hello),
      received: () => ports.changed(),
      receivedOutput: () => ports.outputCame(),
      parked: () => ports.parked(),
      broken: () => this.#hopBroken(),
      failed: (outcome) => this.#hopFailed(outcome),
      clientBye: (client, code, reason) => {
        client.peer?.bye(code, reason, "never");
        this.#session?.leave(client);
      },
      trace: () => ports.trace(),
    });
    this.looks = new LastLooks(
      () => this.#session,
      this.hop,
      ports.store,
      () => ports.changed(),
    );
    this.reaching = new Reaching(this);
    this.#maker = new SessionMaker(ports, this.hop.client);
    this.#ended = new EndedProcess(ports, this.hop);
  }

  get state(): ProcessState {
    return processState(this.#ports.store.record, this.#session, this.parked);
  }

  /** Undefined while no client or program follows the process. */
  get session(): RelaySession | undefined {
    return this.#session;
  }

  /** Finds or makes the session and its process. */
  async ensure(spec: AttachSpec, admission: Admission): Promise<Outcome> {
    const { env, store } = this.#ports;
    if (store.record !== undefined && attachableOf(store.record, spec) === undefined) this.discard();
    if (this.#session !== undefined) return { ok: true, session: this.#session };
    const { record } = store;
    if (record !== undefined && isOver(record)) return { ok: true, session: this.restoreEnded(record) };
    if (!spec.query.wake && !(await isAwake(env, spec.sandboxKey))) {
      return { ok: false, refusal: ASLEEP };
    }
    if (record === undefined) {
      const refusal = startRefusal(env, spec);
      if (refusal !== undefined) return { ok: false, refusal };
    }
    if (record === undefined && spec.pass.noRoom !== undefined) return { ok: false, refusal: spec.pass.noRoom };
    this.#startedFor = spec;
    const outcome = await this.hop.open();
    if (outcome.kind === "open" && this.#session !== undefined) return { ok: true, session: this.#session };
    if (outcome.kind === "refused" && outcome.status === 404 && record !== undefined) {
      this.lose();
      // A session that is forgotten when it ends is replaced (D6); of any other the client gets the remaining output (X7a).
      const mayStart = spec.who.mayCreate && spec.query.role === "driver";
      if (admission.isResume || (record.isTransient === true && !mayStart)) return { ok: false, refusal: PROCESS_LOST };
      return this.ensure(spec, admission);
    }
    return { ok: false, refusal: refusalOf(outcome) };
  }

  /** Frees the name of an ended process for a client that starts a new one under it (`ended=replace`). */
  async makeWay(spec: AttachSpec): Promise<void> {
    const { env, store } = this.#ports;
    const { record } = store;
    if (record === undefined || !mayReplace(env, record, spec)) return;
    const { state } = await describeSession(env, record, this.#session);
    if (state === "running") return;
    await askBridge(env, record.sandboxKey, { ask: "end", session: record.facts.session });
    // Another connection may have done so already. If only the exit was stored meanwhile, it is still the same process.
    if (store.record?.facts.incarnation === record.facts.incarnation) this.discard();
  }

  /** Stores the exit once the process has ended and its last output has arrived. @returns Whether it did so now. */
  storeExit(session: RelaySession, nowMs: number): boolean {
    const { env, store, waitUntil } = this.#ports;
    const { record } = store;
    if (record === undefined || !this.#ended.store(record, session, nowMs)) return false;
    const { exit, log } = session;
    this.#ports.recordings.finish(record.facts.incarnation, log, exit, nowMs);
    noteSession(env, "session.exited", record, { code: exit?.code ?? 0, bytes: log.endOffset });
    waitUntil(this.processEnded(record));
    this.hop.release();
    return true;
  }

  /**
   * The last client has left: the process continues alone, and this object may be evicted.
   * @param unheard Called if the bridge was not told how to wake this object.
   */
  detach(session: RelaySession, unheard?: () => void): void {
    const { client } = this.hop;
    // The output of a recorded process is fetched at once.
    const after = this.#ports.recordings.isRecording ? 0 : FIRST_POLL_MS / 1000;
    // An unreachable bridge can't be told how to wake this object, so its process is polled.
    this.#storeLeft(session, client.callsParked && client.isReady);
    this.#session = undefined;
    this.reaching.left();
    client.park({ offset: session.log.endOffset, seconds: 0, after, bell: this.#ports.sessionKey });
    this.hop.release(unheard);
  }

  /** The clients stay, and this object may be evicted. The bridge keeps their places. */
  park(session: RelaySession, parked: Parked): void {
    this.#storeLeft(session, true);
    this.hop.release();
    this.parked = parked;
  }

  #storeLeft(session: RelaySession, hasBell: boolean): void {
    const { store, audit, recordings } = this.#ports;
    recordings.leave();
    if (store.record !== undefined) storeLeft(store, this.looks, store.record, session, hasBell);
    // All writes of one turn reach the disk together.
    void audit?.flush();
  }

  /** Restores the parked session, without its clients. @returns undefined if it is no longer kept. */
  unpark(parked: ParkedSession): RelaySession | undefined {
    const { record } = this.#ports.store;
    if (record === undefined || isOver(record)) return undefined;
    this.#session = this.#maker.unparked(record, parked);
    this.#ports.recordings.follow(this.#session);
    return this.#session;
  }

  /** Ends the process if it is running, and frees its name in the bridge. */
  async end(record: SessionRecord): Promise<void> {
    // The bridge keeps an ended process for a while and would give it to the next client that asks for the name.
    await askBridge(this.#ports.env, record.sandboxKey, { ask: "end", session: record.facts.session });
    if (record.exit === undefined) await this.#ended.told(() => this.#session);
  }

  /** Deletes the session and tells its clients. */
  async remove(record: SessionRecord): Promise<void> {
    this.#finishRecording(record);
    if (!isOver(this.#ports.store.record ?? record)) {
      const { log, exit: told } = this.#session ?? {};
      const more = { ...defined({ code: told?.code }), bytes: log?.endOffset ?? record.offset };
      noteSession(this.#ports.env, "session.exited", record, more);
    }
    this.#drop({ code: CLOSE.notFound, error: "not_found", message: "the session was ended" });
    await Promise.all([this.#directory(record).remove(record.facts.session), this.processEnded(record)]);
  }

  /** The object may have died between the end of a process and that of its recording. */
  settleRecording(): void {
    const { store, recordings } = this.#ports;
    const { record } = store;
    if (record !== undefined && isOver(record) && recordings.isOpen(record.facts.incarnation)) {
      this.#finishRecording(record);
    }
  }

  /** A recording outlives its session, and ends with it. */
  #finishRecording(record: SessionRecord): void {
    const log = this.#session?.log ?? this.keptLog(record);
    const exit = record.exit ?? this.#session?.exit;
    this.#ports.recordings.finish(record.facts.incarnation, log, exit, record.exitedAtMs ?? Date.now());
  }

  /** Gives back the process's slot among the tenant's. */
  async processEnded({ homeKey, startedBy }: Pick<SessionRecord, "homeKey" | "startedBy">): Promise<void> {
    if (homeKey === undefined) return;
    await this.#ports.env.TENANT.getByName(homeKey).ended(this.#ports.sessionKey, startedBy);
  }

  keptLog(record: SessionRecord): OutputLog {
    return this.#maker.keptLog(record);
  }

  // ---- Making a session ------------------------------------------------------------------------------------------

  /** Makes the session of a process that has ended. */
  restoreEnded(record: SessionRecord): RelaySession {
    this.#session = this.#maker.ended(record);
    this.#session.state.recording = record.recording;
    return this.#session;
  }

  #newRecord(hello: InnerHello, wish: AttachSpec | undefined): SessionRecord {
    if (wish === undefined) throw new Error("Cannot adopt a process that nobody asked for");
    return this.begin(askedRecord(hello, wish), wish, wish.query.process);
  }

  /** Takes over a process that has just been started. */
  begin(record: SessionRecord, { actor, pass }: Pick<AttachSpec, "actor" | "pass">, asked: ProcessWish): SessionRecord {
    const { store, audit, waitUntil, recordings } = this.#ports;
    const recording = recordings.begin(record, actor, asked.record === true);
    store.record = { ...record, ...defined({ recording }) };
    const { incarnation, tty } = record.facts;
    audit?.began({ type: "start", incarnation, command: record.cmd, tty, ...recordedSurroundings(asked) }, actor);
    waitUntil(this.#directory(record).add(record.facts.session, record.createdAt));
    noteSession(this.#ports.env, "session.started", record, { request: pass.request });
    // A process that a program has started may never get a client.
    if (recording !== undefined && record.program !== undefined) waitUntil(this.reaching.reach());
    return store.record;
  }

  // ---- The inner hop ---------------------------------------------------------------------------------------------

  #attachBridge(signal: AbortSignal) {
    const { env, store } = this.#ports;
    const sandboxKey = store.record?.sandboxKey ?? this.#startedFor?.sandboxKey ?? "";
    return attachBridge(env, sandboxKey, hopParams(store.record, this.#session, this.#startedFor), signal);
  }

  /** The bridge has greeted: makes the session, or continues it. */
  #adopt(hello: InnerHello): void {
    let session = this.#session;
    if (session === undefined) {
      const record = this.#ports.store.record ?? this.#newRecord(hello, this.#startedFor);
      session = this.#maker.greeted(record, hello);
      this.#session = session;
    }
    this.#ports.recordings.follow(session);
    this.reaching.greeted(hello);
    session.title = hello.title ?? "";
    session.onAttention = (attention) => this.#ports.waitUntil(this.#callForAttention(attention));
    session.onAsk = (ask, event, client) => this.#noteAsk(session.state.asks, ask, event, client);
    this.hop.client.ready(session, hello);
    // Only clients that were told of the break are told: a parked session opens the hop, too.
    if (this.#isHopLossTold) tellAll(session, "running");
    this.#isHopLossTold = false;
  }

  /** Stores what became of a program's ask, puts it on record, and has people called who are elsewhere. */
  #noteAsk(asks: readonly Ask[], { id: ask, writer, reason, secret }: Ask, event: AskEvent, client: string): void {
    const { store, audit, env, waitUntil } = this.#ports;
    const { record } = store;
    if (record === undefined) return;
    store.record = { ...record, asks };
    const why = event === "asked" ? { reason } : {};
    audit?.note({ type: "ask", event, ask, writer, secret, ...why }, client === "" ? undefined : client);
    if (event !== "asked" || record.homeKey === undefined) return;
    const { sandbox, session } = record.facts;
    const called = env.TENANT.getByName(record.homeKey).askPeople({ sandbox, session });
    waitUntil(called.catch((error: unknown) => log.warn("people could not be called:", error)));
  }

  /** Calls the tenant's webhook for attention, if there is one. */
  async #callForAttention(attention: Attention): Promise<void> {
    const { env, store } = this.#ports;
    const { record } = store;
    if (record?.homeKey === undefined || Date.now() < this.#attentionOffUntilMs) return;
    const { sandbox, session, incarnation } = record.facts;
    try {
      const isOn = await env.TENANT.getByName(record.homeKey).attend({ ...attention, sandbox, session, incarnation });
      if (!isOn) this.#attentionOffUntilMs = Date.now() + ATTENTION_OFF_MS;
    } catch (error) {
      log.warn("a call for attention was not taken:", error);
    }
  }

  /** Tells clients once that the inner hop is broken. */
  #tellHopLost(session: RelaySession): void {
    if (!this.#isHopLossTold) tellAll(session, "lost");
    this.#isHopLossTold = true;
  }

  #hopBroken(): boolean {
    const session = this.#session;
    if (session === undefined || session.hasEnded) return false;
    // The log may continue behind output that is lost on the way.
    this.#ports.recordings.flush();
    this.#tellHopLost(session);
    return session.presentCount > 0 || this.#ports.isCalled();
  }

  #hopFailed(outcome: Exclude<HopOutcome, { kind: "open" }>): boolean {
    const session = this.#session;
    if (outcome.kind === "refused") {
      if (outcome.status === 404) this.lose();
      // Another attempt would be refused too, and endless attempts keep a container awake. The process may still run.
      else if (session !== undefined) {
        this.detach(session);
        dismiss(session, refusalOf(outcome));
        this.#ports.changed();
      }
      return false;
    }
    // A session that was parked has not told its clients yet.
    if (session !== undefined && !session.hasEnded) this.#tellHopLost(session);
    return (session?.presentCount ?? 0) > 0 || this.#ports.isCalled();
  }

  /** The bridge does not know this process: starts the time for which its output is still kept. */
  foundLost(record: SessionRecord): void {
    // The process may have ended, or be reached again, since the question was asked.
    const { state } = this;
    if (state.at === "detached" && state.record === record && !this.hop.isOpen) this.lose();
  }

  // ---- Losing a process ------------------------------------------------------------------------------------------

  /** The process is gone without an exit: its clients are told, and its received output is kept. */
  lose(): void {
    const { store, audit, waitUntil } = this.#ports;
    const { record } = store;
    if (record?.lostAtMs !== undefined) return; // Already found out by another path.
    audit?.note({ type: "lost" });
    if (record !== undefined) {
      this.#finishRecording(record);
      const { offset } = storeLost(store, this.looks, record, this.#session, Date.now());
      noteSession(this.#ports.env, "session.lost", record, { bytes: offset });
      waitUntil(this.processEnded(record));
    }
    this.hop.release();
    const session = this.#session;
    session?.lost(screenBefore(store.kept.screen, session.log));
    this.reaching.left();
    this.#ports.changed();
  }

  /** Deletes all that is kept of this process: another takes its name. */
  discard(): void {
    this.looks.forget();
    const { record } = this.#ports.store;
    if (record !== undefined) this.#finishRecording(record);
    this.#drop(REPLACED);
    this.#ports.store.clear();
  }

  #drop(refusal: Refusal): void {
    const session = this.#session;
    this.#session = undefined;
    this.hop.release();
    if (session !== undefined) dismiss(session, refusal);
    this.reaching.left();
  }

  #directory({ sandboxKey }: SessionRecord) {
    return this.#ports.env.DIRECTORY.getByName(sandboxKey);
  }
}

/** Tells every client why there is nothing to wait for. */
function dismiss(session: RelaySession, { code, message }: Refusal): void {
  for (const client of [...session.clients]) client.peer?.bye(code, message, "never");
}

function tellAll(session: RelaySession, status: "lost" | "running"): void {
  for (const client of session.clients) client.peer?.send({ type: "status", status });
}
