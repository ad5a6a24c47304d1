// The programs' calls at one session's Durable Object: each is let in, does its operation, and counts as attached meanwhile.

import { isSecretFor } from "sandbox-stdio/core";
import { type KeptWait, WorkShare } from "sandbox-stdio/programs";
import { askerOf } from "../attach/grant.ts";
import type { ResumeSigner } from "../attach/resume.ts";
import type { Limits } from "../limits/limits.ts";
import { inputDigest } from "../records/new-record.ts";
import { describeSession } from "../records/session-listing.ts";
import type { SessionRecord } from "../records/session-store.ts";
import type { Lifetimes } from "../sockets/lifetimes.ts";
import { answerOf, FULL_RETRY_SECONDS } from "./answer-of.ts";
import { Follower } from "./follower.ts";
import { OpenCall } from "./open-call.ts";
import { commands, screen } from "./operations/ask-process.ts";
import {
  type Operation,
  type ProgramAnswer,
  type ProgramCall,
  packAnswer,
  refused,
  SECRET_ENTRY,
  type WaitCall,
} from "./operations/call.ts";
import { Chunks } from "./operations/chunks.ts";
import { drive } from "./operations/drive.ts";
import type { Reached } from "./operations/reached.ts";
import { read } from "./operations/read.ts";
import { redraw, type Screen } from "./operations/redraw.ts";
import { run } from "./operations/run.ts";
import { offsetAt, timesOf } from "./operations/since.ts";
import { Waiting } from "./operations/wait.ts";
import { CommandSource, cannotWait, type ProcessPorts } from "./operations/wait-sources.ts";
import { HOP_PATIENCE_MS, type Write, Writes } from "./operations/write.ts";
import { PendingWaits } from "./pending-waits.ts";
import { type StartPorts, Starts } from "./starts.ts";

/** After the last call, output comes for so long as if there were another: most come soon after each other. */
const LINGER_MS = 5_000;
/** Minimum time between two stored times of a call. */
const CALLED_STEP_MS = 10_000;

export interface ProgramPorts extends StartPorts {
  readonly ctx: Pick<DurableObjectState, "acceptWebSocket" | "getWebSockets">;
  readonly signer: ResumeSigner;
  readonly lifetimes: Lifetimes;
  readonly limits: Limits;
  /** Resolves when a session that is being forgotten is. */
  ending(): Promise<unknown>;
  /** Something may be due at another time than before, or the process needed no more. */
  changed(): void;
  /** The record says other times for its end than before. */
  keptUntilChanged(): void;
}

export class ProgramCalls {
  readonly #at: ProgramPorts;
  readonly #writes = new Writes();
  /** Waits that are not met yet. */
  readonly waits: PendingWaits;
  readonly #share = new WorkShare(
    () => Date.now(),
    () => this.waits.searching,
  );
  #open = 0;
  /** Calls under way that wait, and streams. */
  #waiting = 0;
  #linger: ReturnType<typeof setTimeout> | undefined;
  readonly #starts: Starts;
  readonly #chunks = new Chunks();
  #follower: Follower | undefined;
  #lastRedrawn: { readonly incarnation: string; readonly screen: Promise<Screen | undefined> } | undefined;

  constructor(ports: ProgramPorts) {
    this.#at = ports;
    this.#starts = new Starts(ports);
    const { ctx, lifetimes, lifecycle, changed } = ports;
    this.waits = new PendingWaits({
      ...{ ctx, lifetimes, changed },
      goOn: (call, kept) => this.#beginWait(call, kept),
      catchUp: () => lifecycle.reaching.reach(),
      ended: () => this.#ended(),
    });
  }

  /** Whether a call is under way, or was just now: the inner hop is kept for it. */
  get isActive(): boolean {
    return this.isUnderWay || this.waits.count > 0;
  }

  /** Whether a call needs this object in memory. */
  get isUnderWay(): boolean {
    return this.#open > 0 || this.#linger !== undefined || this.#follower !== undefined || this.waits.isBusy;
  }

  /** @param signal Says that the caller has gone. */
  answer(call: ProgramCall, signal: AbortSignal): Promise<ProgramAnswer> {
    const { operation } = call;
    // Refused before it takes a place anywhere.
    if (operation.type === "locate" && operation.waitsFor !== undefined && this.#isFull)
      return Promise.resolve(this.#full());
    const isLong = (operation.type === "read" || operation.type === "chunks") && operation.waitMs > 0;
    return this.#asCall(call, isLong, signal, (gone) => this.#do(call, gone));
  }

  /** @returns The answer, packed, or the upgrade on which it comes. @param signal Says that the caller has gone. */
  async wait(call: WaitCall, signal: AbortSignal): Promise<Response> {
    const waiting = await this.#asCall(call, true, signal, () => this.#beginWait(call));
    if ("status" in waiting) return packAnswer(waiting);
    const answer = waiting.look();
    return answer === undefined ? this.waits.hold(waiting, call, signal) : packAnswer(answer);
  }

  /** Does what is asked as a call: counted, and ended where its token is. @param isLong Whether it waits. */
  async #asCall<T>(
    call: Omit<ProgramCall, "operation">,
    isLong: boolean,
    signal: AbortSignal,
    asked: (gone: AbortSignal) => Promise<T>,
  ): Promise<T | ProgramAnswer> {
    if (isLong && this.#isFull) return this.#full();
    const open = new OpenCall();
    this.#open += 1;
    if (isLong) this.#waiting += 1;
    this.#at.audit?.at({ sandbox: call.sandbox, session: call.session });
    this.#at.lifetimes.add(open, call.who, call.pass);
    this.#at.changed();
    const given = new AbortController();
    const gone = AbortSignal.any([signal, given.signal]);
    try {
      return await Promise.race([asked(gone), open.dismissed]);
    } finally {
      given.abort();
      open.isEnded = true;
      this.#at.lifetimes.remove(open);
      this.#open -= 1;
      if (isLong) this.#waiting -= 1;
      this.#ended();
    }
  }

  #ended(): void {
    this.#noteCalled();
    this.#lingerOn();
    this.#at.changed();
  }

  get #isFull(): boolean {
    return this.#waiting + this.waits.count >= this.#at.limits.waits;
  }

  #full(): ProgramAnswer {
    const message = `more than ${this.#at.limits.waits} waits and streams on this session`;
    return { ...refused(429, "too_many_waits", message), retryAfterSeconds: FULL_RETRY_SECONDS };
  }

  /** @param kept State of a wait that began in an earlier life of this object. @returns Why it can't wait, if so. */
  async #beginWait(call: WaitCall, kept?: KeptWait): Promise<Waiting | ProgramAnswer> {
    await this.#at.ending();
    const reached = await this.#reach(call, call.incarnation, call.operation.timeoutMs);
    if ("status" in reached) return reached;
    const mayType = () => isKeyboardOpen(reached, this.#writerId(call, reached, "api"));
    const isSecret = () => this.#isSecret(call, reached);
    return Waiting.of({
      reached,
      asked: call.operation,
      mayType,
      isSecret,
      ports: this.#ports,
      share: this.#share,
      kept,
    });
  }

  async #do(call: ProgramCall, signal: AbortSignal): Promise<ProgramAnswer> {
    const { operation, incarnation } = call;
    await this.#at.ending();
    let isNew = false;
    if (operation.type === "create" || operation.type === "run") {
      const refusal = incarnation === undefined ? undefined : this.#refuseOther(call, incarnation);
      if (refusal !== undefined) return refusal;
      const found = await this.#starts.findOrStart(call, operation.process, signal);
      if ("status" in found) return found;
      isNew = found.isNew;
    }
    const record = this.#at.store.record;
    if (record === undefined) return refused(404, "not_found", `no session "${call.session}"`);
    const otherInput = operation.type === "run" ? this.#refuseOtherInput(record, operation) : undefined;
    if (otherInput !== undefined) return otherInput;
    if (operation.type === "create" && operation.isFollowed === true) {
      // The inner hop opens while the caller is answered.
      void this.#at.lifecycle.reaching.reach().catch(() => undefined);
      return { status: isNew ? 201 : 200, body: {} };
    }
    if (operation.type === "create") {
      const writerId = this.#writerId(call, record.facts, "api");
      const description = await describeSession(this.#at.env, record, this.#at.lifecycle.session, writerId);
      return { status: isNew ? 201 : 200, body: description };
    }
    const limitMs = "waitMs" in operation ? operation.waitMs : 0;
    const reached = await this.#reach(call, operation.type === "run" ? undefined : incarnation, limitMs);
    if ("status" in reached) return reached;
    const shows = operation.type === "run" || operation.type === "read" || operation.type === "screen";
    if (shows && this.#isSecret(call, reached)) return SECRET_ENTRY;
    const answer = await this.#operate(call, operation, reached, signal, isNew);
    return shows && this.#isSecret(call, reached) ? SECRET_ENTRY : answer;
  }

  /** Whether a person may be typing a secret for a program of this caller's. */
  #isSecret(call: Pick<ProgramCall, "who">, reached: Reached): boolean {
    const state = reached.session?.state;
    return state !== undefined && state.asks.length > 0 && isSecretFor(state, this.#askerId(call, reached));
  }

  /** @param incarnation The required process, if any. @param limitMs How long the caller wishes to wait. */
  async #reach(
    call: Pick<ProgramCall, "session">,
    incarnation: string | undefined,
    limitMs: number,
  ): Promise<Reached | ProgramAnswer> {
    const other = incarnation === undefined ? undefined : this.#refuseOther(call, incarnation);
    if (other !== undefined) return other;
    const reached = await this.#at.lifecycle.reaching.reach(HOP_PATIENCE_MS + limitMs);
    if (reached === undefined) return refused(404, "not_found", `no session "${call.session}"`);
    return "code" in reached ? answerOf(reached) : reached;
  }

  /** U4: a repeated *run* that says its input has the same as the first that did, which is noted here. */
  #refuseOtherInput(record: SessionRecord, run: Extract<Operation, { type: "run" }>): ProgramAnswer | undefined {
    if (!run.saysInput) return undefined;
    const input = inputDigest(run.process);
    if (record.runInput === undefined && run.hasInput && record.program?.hasInput !== true) {
      this.#at.store.record = { ...record, runInput: input };
      return undefined;
    }
    if (record.runInput === undefined || record.runInput === input) return undefined;
    const words = "the session was given other input: choose another name, or give the stdin of the first time";
    return refused(409, "other_input", words);
  }

  /** R2: no other process of this name is meant. */
  #refuseOther({ session }: Pick<ProgramCall, "session">, incarnation: string): ProgramAnswer | undefined {
    const { record } = this.#at.store;
    if (record === undefined) return refused(404, "not_found", `no session "${session}"`);
    const current = record.facts.incarnation;
    if (current === incarnation) return undefined;
    return refused(404, "other_incarnation", "the session has another process now", { incarnation: current });
  }

  #operate(
    call: ProgramCall,
    operation: Exclude<Operation, { type: "create" }>,
    reached: Reached,
    signal: AbortSignal,
    isNew: boolean,
  ): ProgramAnswer | Promise<ProgramAnswer> {
    switch (operation.type) {
      case "run": {
        // The input that a process was started with is its first input already (U4).
        const goesOn = operation.hasInput && !isNew && this.#at.store.record?.program?.hasInput !== true;
        return run(reached, call.session, operation, signal, goesOn ? this.#typing(reached, call) : undefined);
      }
      case "read":
        return this.#read(reached, operation, signal);
      case "write":
        return this.#typing(reached, call)(operation);
      case "screen":
        return screen(reached, operation, this.#ports.hop, this.#ports.kept, (seen, at) => this.#redrawn(seen, at));
      case "commands":
        return commands(reached, this.#ports.hop, this.#ports.kept, this.#at.store.record?.lostAtMs);
      case "chunks":
        return this.#readChunks(reached, operation, signal);
      case "locate":
        return locate(reached, operation, this.#ports);
      default:
        return drive(reached, call, operation, {
          isReachable: this.#at.lifecycle.hop.isOpen,
          audit: this.#at.audit,
          writerId: (writer) => this.#writerId(call, reached, writer),
          asker: this.#askerId(call, reached),
        });
    }
  }

  /** Once for each process: its log does not change any more. */
  #redrawn(seen: Screen, { incarnation, log }: Reached): Promise<Screen | undefined> {
    if (this.#lastRedrawn?.incarnation !== incarnation) {
      this.#lastRedrawn = { incarnation, screen: redraw(seen, log) };
    }
    return this.#lastRedrawn.screen;
  }

  async #read(reached: Reached, operation: Extract<Operation, { type: "read" }>, signal: AbortSignal) {
    const { sinceMs, hasTimes = false } = operation;
    const ports = { ...this.#ports, record: this.#at.store.record };
    const start = sinceMs === undefined ? {} : { from: await offsetAt(reached, sinceMs, ports) };
    const answer = await read(reached, { ...operation, ...start }, signal);
    if (!hasTimes || answer.status !== 200) return answer;
    const range = { from: Number(answer.body.from), next: Number(answer.body.next) };
    const times = await timesOf(reached, range, ports);
    return times === undefined ? answer : { ...answer, body: { ...answer.body, times } };
  }

  /** The process waits for the reader, as long as its calls come (E4). */
  #readChunks(reached: Reached, operation: Extract<Operation, { type: "chunks" }>, signal: AbortSignal) {
    const { store, lifecycle } = this.#at;
    const { record } = store;
    if (record?.program !== undefined && record.program.isChunked !== true) {
      store.record = { ...record, program: { ...record.program, isChunked: true } };
    }
    const { session } = reached;
    const follow = (offset: number | undefined) => {
      const { reader } = operation;
      if (reader === undefined || session === undefined || session.hasEnded || lifecycle.session !== session) return;
      if (this.#follower?.isOf(session) === true) {
        this.#follower.called(offset);
        return;
      }
      const follower = new Follower(session, () => {
        if (this.#follower === follower) this.#follower = undefined;
        this.#at.changed();
      });
      this.#follower = follower;
      follower.attach(reader, offset ?? session.log.startOffset);
    };
    const ports = { ...this.#ports, isReachable: lifecycle.hop.isOpen, follow };
    return this.#chunks.read(reached, operation, signal, {
      ...ports,
      keep: (table) => store.keep("chunks", table),
    });
  }

  #typing(reached: Reached, call: ProgramCall): (operation: Write) => Promise<ProgramAnswer> {
    const writerId = (writer: string) => this.#writerId(call, reached, writer);
    return (operation) => {
      const hop = this.#at.lifecycle.hop.client;
      return this.#writes.write(reached, call, operation, { hop, audit: this.#at.audit, writerId });
    };
  }

  get #ports(): ProcessPorts {
    return { hop: this.#at.lifecycle.hop.client, kept: () => this.#at.store.kept };
  }

  #writerId({ who }: Pick<ProgramCall, "who">, { incarnation }: Pick<Reached, "incarnation">, writer: string): string {
    return this.#at.signer.writerId(incarnation, askerOf(who), writer);
  }

  /** Whose programs the caller's are: no writer has this name. */
  #askerId(call: Pick<ProgramCall, "who">, reached: Reached): string {
    return this.#writerId(call, reached, "");
  }

  // ---- Time ------------------------------------------------------------------------------------------------------

  /** An ended process is kept for so long after the last call about it (P4). */
  #noteCalled(): void {
    const { store, keptUntilChanged } = this.#at;
    const { record } = store;
    const now = Date.now();
    if (record?.program === undefined || record.program.calledAtMs + CALLED_STEP_MS > now) return;
    store.record = { ...record, program: { ...record.program, calledAtMs: now } };
    keptUntilChanged();
  }

  #lingerOn(): void {
    if (this.#linger !== undefined) clearTimeout(this.#linger);
    this.#linger = undefined;
    // A process that has ended writes nothing more.
    if (this.#open > 0 || this.#at.lifecycle.session?.hasEnded === true) return;
    this.#linger = setTimeout(() => {
      this.#linger = undefined;
      this.#at.changed();
    }, LINGER_MS);
  }
}

async function locate(
  reached: Reached,
  { from, waitsFor }: Extract<Operation, { type: "locate" }>,
  ports: ProcessPorts,
): Promise<ProgramAnswer> {
  const end = reached.log.endOffset;
  if (from !== undefined && from > end) return refused(400, "bad_offset", `the output ends at ${end}`, { end });
  const refusal = waitsFor && cannotWait({ kind: waitsFor }, reached, await CommandSource.of(waitsFor, reached, ports));
  if (refusal !== undefined) return refusal;
  return {
    status: 200,
    body: { incarnation: reached.incarnation, state: reached.state, start: reached.log.startOffset, end },
  };
}

/** Whether the keyboard is free, or that of the client `id`. */
function isKeyboardOpen({ session }: Reached, id: string): boolean {
  return session?.keyboard.isExclusive !== true || session.keyboard.holder === "" || session.keyboard.holder === id;
}
