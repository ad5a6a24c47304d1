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
  ProcessSession,
  type ProcessWish,
  type ProgramPorts,
  type ServerConnection,
  type Trace,
  tracedUpstream,
  type Upstream,
} from "sandbox-stdio/core";
import { processIdentity } from "sandbox-stdio/programs";
import { Answers } from "./answers.ts";
import { Attached } from "./attached.ts";
import { Bell } from "./bell.ts";
import { HostPorts } from "./host-ports.ts";
import type { HostNames, Unattended } from "./host-start.ts";
import { InputWriter } from "./input-writer.ts";
import { Lifespan } from "./lifespan.ts";
import { factsOf, type LoggedProcess, type ProcessEvents, startLogged } from "./logged-process.ts";
import { OutputNotes } from "./output-notes.ts";
import { NO_PANES, type SessionPanes } from "./panes/session-panes.ts";
import type { StartFault } from "./process/process.ts";
import { ProcessControl } from "./process-control.ts";
import type { Surroundings } from "./surroundings.ts";
import { ToldExit } from "./told-exit.ts";

export class SessionHost implements ProcessEvents {
  readonly names: HostNames;
  readonly session: ProcessSession;
  readonly trace: Trace | undefined;
  readonly attempt: string | undefined;
  /** Whether it was started with input, or with the end of it. */
  readonly hasFirstInput: boolean;
  readonly notes: OutputNotes;
  readonly #control: ProcessControl;
  readonly exitTold = new ToldExit();
  readonly #process: LoggedProcess;
  readonly #writer: InputWriter;
  /** Absent on pipes. */
  readonly #answers: Answers | undefined;
  readonly #wish: ProcessWish;
  readonly #lifespan: Lifespan;
  readonly #deadline: Deadline;
  readonly #onEnd: (host: SessionHost) => void;
  readonly #attached = new Attached();
  readonly #bell: Bell;
  #isLookDue = false;
  #isRemoved = false;

  /** @returns The host, or why the process can't be started: nothing has run then. */
  static start(
    names: HostNames,
    query: Pick<AttachQuery, "process" | "size">,
    surroundings: Surroundings,
    onEnd: (host: SessionHost) => void,
    unattended?: Unattended,
  ): SessionHost | StartFault {
    let host: SessionHost | undefined;
    const process = startLogged(query, surroundings, () => host);
    if ("fault" in process) return process;
    host = new SessionHost(names, query.process, process, onEnd, surroundings, unattended);
    return host;
  }

  /** Over a process that is there already. */
  static over(
    names: HostNames,
    wish: ProcessWish,
    process: LoggedProcess,
    onEnd: (host: SessionHost) => void,
  ): SessionHost {
    return new SessionHost(names, wish, process, onEnd, {}, undefined);
  }

  private constructor(
    names: HostNames,
    wish: ProcessWish,
    process: LoggedProcess,
    onEnd: (host: SessionHost) => void,
    { trace, bell, unattendedBytesPerSecond, panes }: Partial<Surroundings>,
    unattended: Unattended | undefined,
  ) {
    const { child, log, screen } = process;
    this.names = names;
    this.trace = trace;
    this.attempt = unattended?.attempt;
    this.hasFirstInput = unattended !== undefined && (unattended.isStdinEnded || unattended.stdin.length > 0);
    this.#wish = wish;
    this.#process = process;
    this.#onEnd = onEnd;
    this.#lifespan = new Lifespan(wish.keep * 1000, unattended?.keepExitedMs ?? 0, performance.now());
    this.#control = new ProcessControl(process);
    this.session = new ProcessSession({
      facts: {
        sandbox: names.label,
        session: names.session,
        incarnation: crypto.randomUUID(),
        tty: wish.tty,
        mode: wish.mode,
        delivery: wish.delivery,
        tellsSize: wish.pane !== undefined,
      },
      log,
      now: () => performance.now(),
      reuseFrames: true, // Bun's send copies before it returns.
      unattendedBytesPerSecond,
      isAwaited: unattended === undefined || wish.delivery === "lossless",
      ...(screen === undefined ? {} : { screen: { request: () => void this.#drawScreen(screen) } }),
      upstream: tracedUpstream(this.#upstream(panes), trace),
    });
    this.#bell = new Bell(bell, this.session.facts.incarnation);
    this.notes = new OutputNotes(this.session, () => this.#attached.inner, this.#bell);
    this.#writer = new InputWriter(child, this.session);
    if (screen !== undefined) {
      const answers = new Answers({
        log,
        screen,
        announce: (offset) => this.#attached.inner?.answered(offset),
        write: (answer) => this.#writer.pushOwn(answer),
      });
      this.#answers = answers;
      screen.onParsed = (given, offset) => answers.parsed(given, offset);
    }
    this.#deadline = new Deadline({
      now: () => performance.now(),
      nextMs: (nowMs) =>
        earliest([
          this.session.nextTickMs,
          this.#lifespan.nextMs,
          this.#attached.silentAtMs,
          this.#bell.nextMs(this.#progress),
          this.#bell.keptEndMs(nowMs),
        ]),
      due: (nowMs) => this.#tick(nowMs),
      wakeIn: (ms, wake) => {
        const timer = setTimeout(wake, ms);
        return () => clearTimeout(timer);
      },
    });
    if (unattended !== undefined) this.#writer.begin(unattended.stdin, unattended.isStdinEnded);
    this.changed();
  }

  get facts(): ProcessFacts {
    return factsOf(this.#process);
  }

  /** What the session has the process do. */
  #upstream(panes: SessionPanes | undefined): Upstream {
    return {
      attached: () => this.changed(),
      input: (client) => this.#writer.push(client),
      signal: (_client, signal) => this.#process.child.signal(signal),
      resize: (_client, { cols, rows }) => {
        if (!this.#lifespan.hasExited) this.#process.child.resize(cols, rows);
      },
      kill: () => void this.kill(),
      pane: (client, order) => (panes === undefined ? client.tell(NO_PANES) : panes.order(client, order)),
      acked: (client) => {
        // Many may acknowledge at once, and only one of them can set the process going.
        if (this.#control.isHeld && client === this.session.pacer) this.changed();
      },
      departed: (client) => {
        panes?.departed(client);
        this.changed();
      },
      holder: () => undefined,
      answerer: (answerer) => this.#answers?.answererIs(answerer),
    };
  }

  get #progress() {
    return { endOffset: this.session.log.endOffset, hasEnded: this.session.exit !== undefined };
  }

  /** Resolves once the exit is known. */
  get exited(): Promise<ExitStatus> {
    return this.#control.exited;
  }

  get state(): "running" | "exited" {
    return this.session.exit === undefined ? "running" : "exited";
  }

  /** Whether a Durable Object is connected. */
  get isHeld(): boolean {
    return this.#attached.inner !== undefined;
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
    this.#attached.add(connection);
    if (this.#lifespan.hasExited) this.exitTold.tell();
    this.changed();
  }

  removeConnection(connection: ServerConnection): void {
    this.#attached.remove(connection);
    this.changed();
  }

  /** @param asked The offset that the session object goes on from. */
  setInner(inner: InnerServer, asked: number | undefined): void {
    this.#bell.answered();
    const facts = this.#bell.isThere ? { ...this.facts, calls: true } : this.facts;
    this.#attached.setInner(inner, facts, asked);
    if (this.session.panes !== undefined) inner.note(this.session.panes);
    if (this.#lifespan.hasExited) this.exitTold.tell();
    this.changed();
  }

  panesChanged(panes: Parameters<ProcessSession["tellPanes"]>[0]): void {
    this.session.tellPanes(panes);
    this.#attached.inner?.note(panes);
  }

  removeInner(inner: InnerServer): void {
    if (this.#attached.inner === inner) this.#bell.gone(inner, performance.now());
    this.#attached.removeInner(inner);
    this.changed();
  }

  /** Tells everybody that the bridge goes away. */
  shutDown(): void {
    this.#attached.shutDown();
  }

  // ---- Process -------------------------------------------------------------------------------------------------

  /** More output is in the log. The answerer of its queries must be known before a client is sent it. */
  committed(): void {
    this.#answers?.appended();
    this.#process.screen?.appended();
  }

  appended(): void {
    this.session.appended();
    this.changed();
  }

  writable(): void {
    this.#writer.pump();
    this.changed();
  }

  outputEnded(): void {
    this.session.outputEnded();
    this.changed();
  }

  ended(status: ExitStatus): void {
    this.#lifespan.exited(performance.now());
    this.#control.ended(status);
    this.trace?.(`ended: ${JSON.stringify(status)}, the log ends at ${this.session.log.endOffset}`);
    this.#writer.close();
    const isTold = this.#attached.isAnybody; // Their connections close as they are told.
    this.#process.marks?.commands.close(this.session.log.endOffset);
    this.session.exited(status);
    if (isTold) this.exitTold.tell();
    this.changed();
  }

  /** Ends every process of the session. Resolves once the exit is known. */
  kill(): Promise<void> {
    return this.#control.kill();
  }

  // ---- Time and pace -------------------------------------------------------------------------------------------

  /** To be called after anything that may have changed who is there, what is acknowledged or what is due. */
  changed(): void {
    if (this.#isRemoved) return;
    if (this.#control.hold(this.session.shouldHold)) {
      const verb = this.#control.isHeld ? "hold" : "release";
      this.trace?.(`decides to ${verb} the process: ${describePace(this.session)}`);
    }
    // A Durable Object without clients is connected, or has parked, for as long as a program's call needs it (P4).
    const isCalled = this.#attached.inner !== undefined || this.#bell.isKept(performance.now());
    this.#lifespan.look(this.session.isAttended || isCalled, performance.now());
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
    this.#attached.dropSilent(nowMs);
    this.session.tick();
    this.#bell.tick(this.#progress, nowMs, () => this.changed());
    const due = this.#lifespan.due(nowMs);
    if (due === "forget") this.remove();
    else if (due === "end") void this.kill();
    this.changed();
  }

  // ---- Programs that call --------------------------------------------------------------------------------------

  /** The questions that programs may ask of this process. */
  get ports(): ProgramPorts {
    return new HostPorts(this.#process, () => this.#lifespan.called(performance.now()));
  }

  /** Forgets the session: its exit need not be told any more. */
  remove(): void {
    this.#isRemoved = true;
    this.exitTold.tell();
    this.#deadline.stop();
    this.#answers?.close();
    this.#process.screen?.close();
    this.#onEnd(this);
  }

  async #drawScreen(screen: NonNullable<LoggedProcess["screen"]>): Promise<void> {
    this.session.snapshotReady(await screen.snapshot());
    this.changed();
  }
}
