// Has the process of a session found or started, for programs that call (P1, P2).

import { defined, type ProcessWish, type RelaySession } from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import { type RecordingEnv, recordingRefusal } from "../attach/recording-settings.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { InnerHop } from "../bridge/inner-hop.ts";
import { orderProcess } from "../bridge/order.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import { identityDigest, inputDigest, newRecord } from "../records/new-record.ts";
import { describeSession } from "../records/session-listing.ts";
import type { SessionRecord, SessionStore } from "../records/session-store.ts";
import type { Refusal } from "../refusal/refusal.ts";
import { answerOf } from "./answer-of.ts";
import { NEEDS_PASS, type ProgramAnswer, type ProgramCall, type ProgramProcess, refused } from "./operations/call.ts";
import type { Reached } from "./operations/reached.ts";

/** What keeps the session's process: the session object's part that calls use. */
export interface ProcessLifecycle {
  /** Undefined while nothing is attached, or nothing is known of a process. */
  readonly session: RelaySession | undefined;
  readonly hop: Pick<InnerHop, "client" | "isOpen">;
  readonly reaching: { reach(patienceMs?: number): Promise<Reached | Refusal | undefined> };
  /** A process has been started: it is the session's from here on. */
  begin(record: SessionRecord, by: Pick<AttachSpec, "actor" | "pass">, asked: ProcessWish): SessionRecord;
  /** Another process takes the name: nothing is kept of this one. */
  discard(): void;
}

export interface StartPorts {
  readonly env: BridgeEnv & CommandEnv & RecordingEnv;
  readonly store: SessionStore;
  readonly lifecycle: ProcessLifecycle;
  /** Absent where no audit is kept. */
  readonly audit: SessionAudit | undefined;
}

/** The answer to a caller that has gone, which nobody reads. */
const GONE = refused(503, "unavailable", "the caller has gone");

export class Starts {
  readonly #at: StartPorts;
  /** Processes are started one after the other: the second finds the first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(ports: StartPorts) {
    this.#at = ports;
  }

  /**
   * The process of this name (P2). @param gone Says that the caller has gone: nothing is started for it, and others wait no longer.
   * @returns The answer to give instead, if there is no such process.
   */
  findOrStart(
    call: ProgramCall,
    process: ProgramProcess,
    gone: AbortSignal,
  ): Promise<ProgramAnswer | { readonly isNew: boolean }> {
    const turn = this.#last.then(() => (gone.aborted ? GONE : this.#findOrStart(call, process)));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #findOrStart(call: ProgramCall, process: ProgramProcess): Promise<ProgramAnswer | { readonly isNew: boolean }> {
    const { env, store, lifecycle, audit } = this.#at;
    const { wish, replace } = process;
    const record = store.record;
    if (record !== undefined) {
      const isOver = replace !== undefined && record.program?.attempt !== replace && (await this.#isOver(record));
      if (!isOver) {
        if (record.identity === identityDigest(wish)) return { isNew: false };
        return refused(409, "other_command", await this.#otherWords(call.session, record));
      }
    }
    const refusal =
      recordingRefusal(env, wish.record) ??
      commandRefusal(env, wish.cmd, call.who.isAdmin, process.line) ??
      call.pass.noRoom;
    if (refusal !== undefined) {
      audit?.refused(refusal, call.actor, record !== undefined);
      return answerOf(refusal);
    }
    if (!call.mayStart) return { status: NEEDS_PASS, body: {} };
    const { keepExited, stdin, isStdinEnded, isAwaited, envPolicy } = process;
    const ordered = await orderProcess(env, call.sandboxKey, {
      ...{ label: call.sandbox, session: call.session, process: wish, size: process.size, replace },
      ...{ keepExited, stdin, isStdinEnded, isAwaited, envPolicy },
    });
    if (!ordered.ok) {
      audit?.refused(ordered.refusal, call.actor, record !== undefined);
      return answerOf(ordered.refusal);
    }
    const { started } = ordered;
    // A client that attached meanwhile may have brought it here.
    if (store.record?.facts.incarnation === started.incarnation) return { isNew: started.isNew };
    if (record !== undefined) lifecycle.discard();
    const told = {
      ...started,
      tty: wish.tty,
      mode: wish.mode,
      delivery: wish.delivery,
      logBytes: wish.logBytes,
      cmd: [wish.cmd, ...wish.args],
      creator: "",
    };
    const made = newRecord(told, { ...call, isTransient: false }, wish, { sandbox: call.sandbox });
    const isFollowed = call.operation.type === "create" && call.operation.isFollowed === true;
    const program = {
      keepExitedMs: keepExited * 1000,
      calledAtMs: Date.now(),
      hasInput: started.hasInput,
      ...defined({ attempt: replace, isChunked: isFollowed || undefined }),
    };
    const size = process.size ?? { cols: 80, rows: 24 };
    const runInput = call.operation.type === "run" ? inputDigest(process) : undefined;
    lifecycle.begin({ ...made, program, ...defined({ runInput, size: wish.tty ? size : undefined }) }, call, wish);
    return { isNew: started.isNew };
  }

  async #otherWords(session: string, record: SessionRecord): Promise<string> {
    const [how, what] = (await this.#isOver(record))
      ? ["which has ended", 'start anew with ended "replace" (--ended replace)']
      : ["which still runs", "end that one first (kill)"];
    return `session "${session}" is another process, ${how}: choose another name, or ${what}`;
  }

  async #isOver(record: SessionRecord): Promise<boolean> {
    const { state } = await describeSession(this.#at.env, record, this.#at.lifecycle.session);
    return state !== "running";
  }
}
