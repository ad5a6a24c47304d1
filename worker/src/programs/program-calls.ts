// The programs' calls at one session's Durable Object: each is let in, does its operation, and counts as attached meanwhile.

import { CLOSE, httpStatusOf } from "sandbox-stdio/core";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import { askerOf } from "../attach/grant.ts";
import type { ResumeSigner } from "../attach/resume.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import { orderProcess } from "../bridge/order.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import type { Limits } from "../limits/limits.ts";
import type { Refusal } from "../refusal.ts";
import type { Lifetimes } from "../session/lifetimes.ts";
import { identityDigest, newRecord } from "../session/new-record.ts";
import type { SessionKeeper } from "../session/session-keeper.ts";
import { describeSession } from "../session/session-listing.ts";
import type { SessionRecord, SessionStore } from "../session/session-store.ts";
import { NEEDS_PASS, type Operation, type ProgramAnswer, type ProgramCall, refused } from "./call.ts";
import { OpenCall } from "./open-call.ts";
import { commands, screen } from "./operations/ask-process.ts";
import { drive } from "./operations/drive.ts";
import type { Reached } from "./operations/reached.ts";
import { read } from "./operations/read.ts";
import { run } from "./operations/run.ts";
import { offsetAt } from "./operations/since.ts";
import { conditionOf, wait } from "./operations/wait.ts";
import { cannotWait, type ProcessPorts } from "./operations/wait-sources.ts";
import { type Write, Writes } from "./operations/write.ts";

/** After the last call, output comes for so long as if there were another: most come soon after each other. */
const LINGER_MS = 5_000;
/** When a caller that meets a full house is asked to come back. */
const FULL_RETRY_SECONDS = 5;
/** That a call was made is stored this often at most. */
const CALLED_STEP_MS = 10_000;

export interface ProgramPorts {
  readonly env: BridgeEnv & CommandEnv;
  readonly store: SessionStore;
  readonly keeper: SessionKeeper;
  readonly signer: ResumeSigner;
  readonly lifetimes: Lifetimes;
  readonly limits: Limits;
  /** Absent where no audit is kept. */
  readonly audit: SessionAudit | undefined;
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
  #open = 0;
  /** Calls that wait, and streams. */
  #waiting = 0;
  #linger: ReturnType<typeof setTimeout> | undefined;
  /** Processes are started one after the other: the second finds the first. */
  #starting: Promise<unknown> = Promise.resolve();

  constructor(ports: ProgramPorts) {
    this.#at = ports;
  }

  /** Whether a call is under way, or was just now: the inner hop is kept for it. */
  get isActive(): boolean {
    return this.#open > 0 || this.#linger !== undefined;
  }

  /** @param signal Says that the caller has gone. */
  async answer(call: ProgramCall, signal: AbortSignal): Promise<ProgramAnswer> {
    const waits = isLong(call.operation);
    if (waits && this.#waiting >= this.#at.limits.waits) {
      const message = `more than ${this.#at.limits.waits} waits and streams on this session`;
      return { ...refused(429, "too_many_waits", message), retryAfterSeconds: FULL_RETRY_SECONDS };
    }
    const open = new OpenCall();
    this.#open += 1;
    if (waits) this.#waiting += 1;
    this.#at.audit?.at({ sandbox: call.sandbox, session: call.session });
    this.#at.lifetimes.add(open, call.who, call.pass);
    this.#at.changed();
    const given = new AbortController();
    const gone = AbortSignal.any([signal, given.signal]);
    try {
      return await Promise.race([this.#do(call, gone), open.dismissed]);
    } finally {
      given.abort();
      open.isEnded = true;
      this.#at.lifetimes.remove(open);
      this.#open -= 1;
      if (waits) this.#waiting -= 1;
      this.#noteCalled();
      this.#lingerOn();
      this.#at.changed();
    }
  }

  async #do(call: ProgramCall, signal: AbortSignal): Promise<ProgramAnswer> {
    const { operation, incarnation } = call;
    await this.#at.ending();
    let isNew = false;
    if (operation.type === "create" || operation.type === "run") {
      const refusal = incarnation === undefined ? undefined : this.#refuseOther(call, incarnation);
      if (refusal !== undefined) return refusal;
      const found = await this.#inTurn(() => this.#findOrStart(call, operation.process));
      if (found !== undefined && "status" in found) return found;
      isNew = found?.isNew === true;
    }
    const record = this.#at.store.record;
    if (record === undefined) return refused(404, "not_found", `no session "${call.session}"`);
    if (operation.type === "create") {
      const writerId = this.#writerId(call, record.facts, "api");
      const description = await describeSession(this.#at.env, record, this.#at.keeper.session, writerId);
      return { status: isNew ? 201 : 200, body: description };
    }
    const other =
      operation.type === "run" || incarnation === undefined ? undefined : this.#refuseOther(call, incarnation);
    if (other !== undefined) return other;
    const reached = await this.#at.keeper.reaching.reach();
    if (reached === undefined) return refused(404, "not_found", `no session "${call.session}"`);
    if ("code" in reached) return answerOf(reached);
    return this.#operate(call, operation, reached, signal, isNew);
  }

  /** R2: no other process of this name is meant. */
  #refuseOther({ session }: ProgramCall, incarnation: string): ProgramAnswer | undefined {
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
        return screen(reached, operation, this.#ports.hop, this.#ports.kept);
      case "commands":
        return commands(reached, this.#ports.hop, this.#ports.kept, this.#at.store.record?.lostAtMs);
      case "locate":
        return locate(reached, operation, this.#ports);
      case "wait":
        return wait(
          reached,
          operation,
          () => isKeyboardOpen(reached, this.#writerId(call, reached, "api")),
          signal,
          this.#ports,
        );
      default:
        return drive(reached, call, operation, {
          isReachable: this.#at.keeper.hop.isOpen,
          audit: this.#at.audit,
          writerId: (writer) => this.#writerId(call, reached, writer),
        });
    }
  }

  async #read(reached: Reached, operation: Extract<Operation, { type: "read" }>, signal: AbortSignal) {
    const { sinceMs } = operation;
    if (sinceMs === undefined) return read(reached, operation, signal);
    const from = await offsetAt(reached, sinceMs, { ...this.#ports, record: this.#at.store.record });
    return read(reached, { ...operation, from }, signal);
  }

  #typing(reached: Reached, call: ProgramCall): (operation: Write) => Promise<ProgramAnswer> {
    const writerId = (writer: string) => this.#writerId(call, reached, writer);
    return (operation) => {
      const hop = this.#at.keeper.hop.client;
      return this.#writes.write(reached, call, operation, { hop, audit: this.#at.audit, writerId });
    };
  }

  get #ports(): ProcessPorts {
    return { hop: this.#at.keeper.hop.client, kept: () => this.#at.store.kept };
  }

  #writerId({ who }: ProgramCall, { incarnation }: Pick<Reached, "incarnation">, writer: string): string {
    return this.#at.signer.writerId(incarnation, askerOf(who), writer);
  }

  // ---- Starting --------------------------------------------------------------------------------------------------

  #inTurn<T>(start: () => Promise<T>): Promise<T> {
    const turn = this.#starting.then(start);
    this.#starting = turn.catch(() => undefined);
    return turn;
  }

  /** The process of this name (P2). @returns The answer to give instead, if there is no such process. */
  async #findOrStart(
    call: ProgramCall,
    process: Extract<Operation, { type: "create" }>["process"],
  ): Promise<ProgramAnswer | { readonly isNew: boolean } | undefined> {
    const { env, store, keeper, audit } = this.#at;
    const { wish, replace } = process;
    const record = store.record;
    if (record !== undefined) {
      const isOver = replace !== undefined && record.program?.attempt !== replace && (await this.#isOver(record));
      if (!isOver) {
        if (record.identity === identityDigest(wish)) return { isNew: false };
        return refused(409, "other_command", `session "${call.session}" is another process`);
      }
    }
    const refusal = commandRefusal(env, wish.cmd, call.who.isAdmin, process.line) ?? call.pass.noRoom;
    if (refusal !== undefined) {
      audit?.refused(refusal, call.actor, record !== undefined);
      return answerOf(refusal);
    }
    if (!call.mayStart) return { status: NEEDS_PASS, body: {} };
    const ordered = await orderProcess(env, call.sandboxKey, {
      label: call.sandbox,
      session: call.session,
      process: wish,
      ...(process.size === undefined ? {} : { size: process.size }),
      ...(replace === undefined ? {} : { replace }),
      keepExited: process.keepExited,
      stdin: process.stdin,
      isStdinEnded: process.isStdinEnded,
    });
    if (!ordered.ok) {
      audit?.refused(ordered.refusal, call.actor, record !== undefined);
      return answerOf(ordered.refusal);
    }
    const { started } = ordered;
    // A client that attached meanwhile may have brought it here.
    if (store.record?.facts.incarnation === started.incarnation) return { isNew: started.isNew };
    if (record !== undefined) keeper.discard();
    const told = {
      ...started,
      tty: wish.tty,
      mode: wish.mode,
      delivery: wish.delivery,
      cmd: [wish.cmd, ...wish.args],
      creator: "",
    };
    const made = newRecord(told, { ...call, isTransient: false }, wish, call.sandbox, undefined);
    const program = {
      keepExitedMs: process.keepExited * 1000,
      calledAtMs: Date.now(),
      hasInput: started.hasInput,
      ...(replace === undefined ? {} : { attempt: replace }),
    };
    const size = process.size ?? { cols: 80, rows: 24 };
    keeper.begin({ ...made, program, ...(wish.tty ? { size } : {}) }, call, wish);
    return { isNew: started.isNew };
  }

  async #isOver(record: SessionRecord): Promise<boolean> {
    const { state } = await describeSession(this.#at.env, record, this.#at.keeper.session);
    return state !== "running";
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
    // Of a process that has ended nothing more comes.
    if (this.#open > 0 || this.#at.keeper.session?.hasEnded === true) return;
    this.#linger = setTimeout(() => {
      this.#linger = undefined;
      this.#at.changed();
    }, LINGER_MS);
  }
}

async function locate(
  reached: Reached,
  { from, until }: Extract<Operation, { type: "locate" }>,
  ports: ProcessPorts,
): Promise<ProgramAnswer> {
  const end = reached.log.endOffset;
  if (from !== undefined && from > end) return refused(400, "bad_offset", `the output ends at ${end}`, { end });
  if (until !== undefined) {
    const condition = conditionOf(until);
    const refusal = "status" in condition ? condition : await cannotWait(condition, reached, ports);
    if (refusal !== undefined) return refusal;
  }
  return {
    status: 200,
    body: { incarnation: reached.incarnation, state: reached.state, start: reached.log.startOffset, end },
  };
}

/** Whether the keyboard is free, or that of the client `id`. */
function isKeyboardOpen({ session }: Reached, id: string): boolean {
  return session?.keyboard.mode !== "exclusive" || session.keyboard.holder === "" || session.keyboard.holder === id;
}

function isLong(operation: Operation): boolean {
  return operation.type === "wait" || (operation.type === "read" && operation.waitMs > 0);
}

/** The answer that a program gets for a refusal. */
export function answerOf({ code, error, message, retryAfterSeconds }: Refusal): ProgramAnswer {
  const status = httpStatusOf(code);
  const seconds = retryAfterSeconds ?? (code === CLOSE.unavailable ? FULL_RETRY_SECONDS : undefined);
  return { ...refused(status, error, message), ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }) };
}
