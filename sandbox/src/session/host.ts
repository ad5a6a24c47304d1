// One session and its process, in the bridge: carries out what the session decides. Feeds the process what clients type,
// holds it back, and ends it when its time is over.

import {
  type AttachQuery,
  commandWords,
  Deadline,
  describePace,
  type ExitStatus,
  earliest,
  type InnerServer,
  type ProcessFacts,
  type ProcessSession,
  type ProcessWish,
  type ProgramPorts,
  type ServerConnection,
  type Trace,
} from "sandbox-stdio/core";
import { processIdentity, type StartOrder } from "sandbox-stdio/programs";
import type { StartFault } from "../process/process.ts";
import { type HostParts, type HostStart, makeHostParts } from "./host-parts.ts";
import { HostPorts } from "./host-ports.ts";
import type { HostNames, Unattended } from "./host-start.ts";
import { factsOf, type LoggedProcess, type ProcessEvents, startLogged } from "./logged-process.ts";
import type { OutputNotes } from "./output-notes.ts";
import type { Surroundings } from "./surroundings.ts";
import { ToldExit } from "./told-exit.ts";

export class SessionHost implements ProcessEvents {
  readonly names: HostNames;
  readonly trace: Trace | undefined;
  readonly attempt: string | undefined;
  /** Whether it was started with input, or with the end of it. */
  readonly hasFirstInput: boolean;
  readonly exitTold = new ToldExit();
  readonly #process: LoggedProcess;
  readonly #wish: ProcessWish;
  readonly #parts: HostParts;
  readonly #deadline: Deadline;
  readonly #onEnd: (host: SessionHost) => void;
  #isLookDue = false;
  #isRemoved = false;

  /** @returns The host, or why the process can't be started: nothing has run then. */
  static start(
    names: HostNames,
    query: Pick<StartOrder, "process" | "size">,
    surroundings: Surroundings,
    onEnd: (host: SessionHost) => void,
    unattended?: Unattended,
  ): SessionHost | StartFault {
    let host: SessionHost | undefined;
    const process = startLogged(query, surroundings, () => host);
    if ("fault" in process) return process;
    host = new SessionHost({ names, wish: query.process, process, surroundings, unattended }, onEnd);
    return host;
  }

  /** Over a process that is there already. */
  static over(
    names: HostNames,
    wish: ProcessWish,
    process: LoggedProcess,
    onEnd: (host: SessionHost) => void,
  ): SessionHost {
    return new SessionHost({ names, wish, process, surroundings: {}, unattended: undefined }, onEnd);
  }

  private constructor(start: HostStart, onEnd: (host: SessionHost) => void) {
    const { unattended } = start;
    this.names = start.names;
    this.trace = start.surroundings.trace;
    this.attempt = unattended?.attempt;
    this.hasFirstInput = unattended !== undefined && (unattended.isStdinEnded || unattended.stdin.length > 0);
    this.#process = start.process;
    this.#wish = start.wish;
    this.#onEnd = onEnd;
    this.#parts = makeHostParts(start, () => this.changed());
    const { session, lifespan, attached, bell, writer } = this.#parts;
    this.#deadline = new Deadline({
      now: () => performance.now(),
      nextMs: (nowMs) =>
        earliest([
          session.nextTickMs,
          lifespan.nextMs,
          attached.silentAtMs,
          bell.nextMs(this.#progress),
          bell.keptEndMs(nowMs),
        ]),
      due: (nowMs) => this.#tick(nowMs),
      wakeIn: (ms, wake) => {
        const timer = setTimeout(wake, ms);
        return () => clearTimeout(timer);
      },
    });
    if (unattended !== undefined) writer.begin(unattended.stdin, unattended.isStdinEnded);
    this.changed();
  }

  get session(): ProcessSession {
    return this.#parts.session;
  }

  get notes(): OutputNotes {
    return this.#parts.notes;
  }

  get facts(): ProcessFacts {
    return factsOf(this.#process);
  }

  get #progress() {
    return { endOffset: this.session.log.endOffset, hasEnded: this.session.exit !== undefined };
  }

  /** Resolves once the exit is known. */
  get exited(): Promise<ExitStatus> {
    return this.#parts.control.exited;
  }

  get state(): "running" | "exited" {
    return this.session.exit === undefined ? "running" : "exited";
  }

  /** Whether a Durable Object is connected. */
  get isHeld(): boolean {
    return this.#parts.attached.inner !== undefined;
  }

  get clientCount(): number {
    return this.session.attachedCount;
  }

  /** Whether a later client's `cmd` is this process. A client that names none takes what there is. */
  matches(query: AttachQuery): boolean {
    const words = commandWords(query.process);
    return words === undefined || JSON.stringify(words) === JSON.stringify(this.#process.cmd);
  }

  /** Whether this process was started as `wish` says, in every respect (P2). */
  isSame(wish: ProcessWish): boolean {
    return processIdentity(this.#wish) === processIdentity(wish);
  }

  // ---- Connections ---------------------------------------------------------------------------------------------

  addConnection(connection: ServerConnection): void {
    this.#parts.attached.add(connection);
    if (this.#parts.lifespan.hasExited) this.exitTold.tell();
    this.changed();
  }

  removeConnection(connection: ServerConnection): void {
    this.#parts.attached.remove(connection);
    this.changed();
  }

  /** @param asked The offset that the session object goes on from. */
  setInner(inner: InnerServer, asked: number | undefined): void {
    this.#parts.bell.answered();
    const facts = this.#parts.bell.isThere ? { ...this.facts, calls: true } : this.facts;
    this.#parts.attached.setInner(inner, facts, asked);
    if (this.session.panes !== undefined) inner.note(this.session.panes);
    if (this.#parts.lifespan.hasExited) this.exitTold.tell();
    this.changed();
  }

  panesChanged(panes: Parameters<ProcessSession["tellPanes"]>[0]): void {
    this.session.tellPanes(panes);
    this.#parts.attached.inner?.note(panes);
  }

  removeInner(inner: InnerServer): void {
    if (this.#parts.attached.inner === inner) this.#parts.bell.gone(inner, performance.now());
    this.#parts.attached.removeInner(inner);
    this.changed();
  }

  /** Tells everybody that the bridge goes away. */
  shutDown(): void {
    this.#parts.attached.shutDown();
  }

  // ---- Process -------------------------------------------------------------------------------------------------

  /** More output is in the log. The answerer of its queries must be known before a client is sent it. */
  committed(): void {
    this.#parts.answers?.appended();
    this.#process.screen?.appended();
  }

  appended(): void {
    this.session.appended();
    this.changed();
  }

  writable(): void {
    this.#parts.writer.pump();
    this.changed();
  }

  outputEnded(): void {
    this.session.outputEnded();
    this.changed();
  }

  ended(status: ExitStatus): void {
    this.#parts.lifespan.exited(performance.now());
    this.#parts.control.ended(status);
    this.trace?.(`ended: ${JSON.stringify(status)}, the log ends at ${this.session.log.endOffset}`);
    this.#parts.writer.close();
    const isTold = this.#parts.attached.isAnybody; // Their connections close as they are told.
    this.#process.marks?.commands.close(this.session.log.endOffset);
    this.session.exited(status);
    if (isTold) this.exitTold.tell();
    this.changed();
  }

  /** Ends every process of the session. Resolves once the exit is known. */
  kill(): Promise<void> {
    return this.#parts.control.kill();
  }

  // ---- Time and pace -------------------------------------------------------------------------------------------

  /** To be called after anything that may have changed who is there, what is acknowledged or what is due. */
  changed(): void {
    if (this.#isRemoved) return;
    if (this.#parts.control.hold(this.session.shouldHold)) {
      const verb = this.#parts.control.isHeld ? "hold" : "release";
      this.trace?.(`decides to ${verb} the process: ${describePace(this.session)}`);
    }
    // A Durable Object without clients is connected, or has parked, for as long as a program's call needs it (P4).
    const isCalled = this.#parts.attached.inner !== undefined || this.#parts.bell.isKept(performance.now());
    this.#parts.lifespan.look(this.session.isAttended || isCalled, performance.now());
    this.#deadline.look();
  }

  /** The same, for what can wait until everybody has been heard who has something to say in this turn of the loop. */
  changedSoon(): void {
    if (this.#isLookDue) return;
    this.#isLookDue = true;
    setImmediate(() => {
      this.#isLookDue = false;
      this.changed();
    });
  }

  #tick(nowMs: number): void {
    this.#parts.attached.dropSilent(nowMs);
    this.session.tick();
    this.#parts.bell.tick(this.#progress, nowMs, () => this.changed());
    const due = this.#parts.lifespan.due(nowMs);
    if (due === "forget") this.remove();
    else if (due === "end") void this.kill();
    this.changed();
  }

  // ---- Programs that call --------------------------------------------------------------------------------------

  /** The questions that programs may ask of this process. */
  get ports(): ProgramPorts {
    return new HostPorts(this.#process, () => this.#parts.lifespan.called(performance.now()));
  }

  /** Forgets the session: its exit need not be told any more. */
  remove(): void {
    this.#isRemoved = true;
    this.exitTold.tell();
    this.#deadline.stop();
    this.#parts.answers?.close();
    this.#process.screen?.close();
    this.#onEnd(this);
  }
}
