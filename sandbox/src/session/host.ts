// One session and its process, in the bridge: carries out what the session decides. Feeds the process the clients' input, holds
// it back, tells the session object what happens, and ends the process when its time is over.

import {
  type Answerer,
  type AttachQuery,
  type ClientRecord,
  commandWords,
  Deadline,
  describePace,
  type ExitStatus,
  earliest,
  type InnerServer,
  MAX_KEPT_INPUT_BYTES,
  type PaneOrder,
  type PanesMessage,
  type ProcessFacts,
  ProcessSession,
  type ProcessWish,
  type ServerConnection,
  type TerminalSize,
  type Timed,
  type Trace,
  tracedUpstream,
  type Upstream,
} from "sandbox-stdio/core";
import { type Attention, processIdentity, type StartOrder } from "sandbox-stdio/programs";
import type { CommandEnd } from "../marks/commands.ts";
import { NO_PANES, type SessionPanes } from "../panes/session-panes.ts";
import type { StartFault } from "../process/process.ts";
import type { SessionScreen } from "../screen/session-screen.ts";
import { Answers, ProgramQuestions } from "./answers.ts";
import { Bell } from "./bell.ts";
import { EchoWatch } from "./echo-watch.ts";
import { InputWriter } from "./input-writer.ts";
import { Lifespan } from "./lifespan.ts";
import { LoggedProcess, type ProcessOwner } from "./logged-process.ts";
import type { Surroundings } from "./surroundings.ts";

/** `sandbox` is the qualified name, `label` the one for people. */
export type HostNames = { readonly sandbox: string; readonly label: string; readonly session: string };

/** How a process is started that no client attaches to at once. */
export type Unattended = {
  /** Which attempt of a program has started it, if the program says so. */
  readonly attempt: string | undefined;
  readonly keepExitedMs: number;
  readonly stdin: Uint8Array;
  readonly isStdinEnded: boolean;
  /** Whether its output waits for its first client. */
  readonly isAwaited: boolean;
};

export class SessionHost implements ProcessOwner, Upstream {
  readonly names: HostNames;
  readonly trace: Trace | undefined;
  readonly attempt: string | undefined;
  /** Whether it was started with input, or with the end of it. */
  readonly hasFirstInput: boolean;
  readonly session: ProcessSession;
  readonly questions: ProgramQuestions;
  readonly #process: LoggedProcess;
  readonly #wish: ProcessWish;
  readonly #panes: SessionPanes | undefined;
  readonly #writer: InputWriter;
  readonly #echo: EchoWatch;
  /** Absent on pipes. */
  readonly #answers: Answers | undefined;
  readonly #lifespan: Lifespan;
  readonly #bell: Bell;
  readonly #deadline: Deadline;
  readonly #onEnd: (host: SessionHost) => void;
  /** Plain clients. */
  readonly #connections = new Set<ServerConnection>();
  /** The newest inner hop: a session object that comes back replaces its older connection. */
  #inner: InnerServer | undefined;
  readonly #exitTold = Promise.withResolvers<void>();
  #exitToldAtMs: number | undefined;
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
    const process = LoggedProcess.start(query, surroundings);
    return "fault" in process
      ? process
      : new SessionHost(names, query.process, process, surroundings, onEnd, unattended);
  }

  readonly #timed: readonly Timed[] = [
    {
      nextTickMs: () => this.#inner?.silentAtMs,
      // Plain clients send nothing by themselves: only a session object's silence means anything.
      tick: (nowMs) => {
        if (this.#inner !== undefined && this.#inner.silentAtMs <= nowMs) this.#inner.close(1001, "nothing was heard");
      },
    },
    { nextTickMs: () => this.session.nextTickMs, tick: () => this.session.tick() },
    {
      nextTickMs: (nowMs) => earliest([this.#bell.nextMs(this.#progress), this.#bell.keptEndMs(nowMs)]),
      tick: (nowMs) => void this.#bell.tick(this.#progress, nowMs)?.then(() => this.changed()),
    },
    { nextTickMs: () => this.#echo.nextMs, tick: (nowMs) => this.#echo.tick(nowMs) },
    {
      nextTickMs: () => this.#lifespan.nextMs,
      tick: (nowMs) => {
        const due = this.#lifespan.due(nowMs);
        if (due === "forget") this.remove();
        else if (due === "end") void this.kill();
      },
    },
  ];

  private constructor(
    names: HostNames,
    wish: ProcessWish,
    process: LoggedProcess,
    { trace, bell, panes, unattendedBytesPerSecond }: Surroundings,
    onEnd: (host: SessionHost) => void,
    unattended: Unattended | undefined,
  ) {
    this.names = names;
    this.trace = trace;
    this.attempt = unattended?.attempt;
    this.hasFirstInput = unattended !== undefined && (unattended.isStdinEnded || unattended.stdin.length > 0);
    this.#process = process;
    this.#wish = wish;
    this.#panes = panes;
    this.#onEnd = onEnd;
    const { log, screen } = process;
    this.session = new ProcessSession({
      facts: {
        sandbox: names.label,
        session: names.session,
        incarnation: crypto.randomUUID(),
        tty: wish.tty,
        mode: wish.mode,
        delivery: wish.delivery,
        tellsSize: wish.pane !== undefined,
        inputWindow: MAX_KEPT_INPUT_BYTES,
        logBytes: wish.logBytes,
      },
      log,
      now: () => performance.now(),
      reuseFrames: true, // Bun's send copies before it returns.
      unattendedBytesPerSecond,
      isAwaited: unattended?.isAwaited ?? true,
      screen: screen && { request: () => void this.#draw(screen) },
      upstream: tracedUpstream(this, trace),
    });
    this.#writer = new InputWriter(process.child, this.session);
    this.#echo = new EchoWatch(
      () => process.child.isEchoing?.(),
      (on) => this.#noteBehindOutput(this.#echoOf(on)),
    );
    this.#answers = screen && new Answers(log, screen, this.#writer, (offset) => this.#inner?.answered(offset));
    if (screen !== undefined) screen.onParsed = (answers, offset) => this.#answers?.parsed(answers, offset);
    this.#lifespan = new Lifespan(wish.keep * 1000, unattended?.keepExitedMs ?? 0, performance.now());
    this.#bell = new Bell(bell, this.session.facts.incarnation);
    this.questions = new ProgramQuestions(process, this.#lifespan);
    this.#deadline = new Deadline({
      now: () => performance.now(),
      parts: () => this.#timed,
      served: () => this.changed(),
      wakeIn: (ms, wake) => {
        const timer = setTimeout(wake, ms);
        return () => clearTimeout(timer);
      },
    });
    process.belongTo(this);
    if (unattended !== undefined) this.#writer.begin(unattended.stdin, unattended.isStdinEnded);
    this.changed();
  }

  get facts(): ProcessFacts {
    return this.#process.facts;
  }

  get state(): "running" | "exited" {
    return this.session.exit === undefined ? "running" : "exited";
  }

  /** Resolves once the exit is known. */
  get exited(): Promise<ExitStatus> {
    return this.#process.exited;
  }

  /** Resolves once a client or the session object was told the exit, or can't be told any more. */
  get exitTold(): Promise<void> {
    return this.#exitTold.promise;
  }

  /** By the clock of `performance`; undefined before {@link exitTold}. */
  get exitToldAtMs(): number | undefined {
    return this.#exitToldAtMs;
  }

  /** Whether a session object is connected. */
  get isHeld(): boolean {
    return this.#inner !== undefined;
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
    this.#connections.add(connection);
    this.#connected();
  }

  removeConnection(connection: ServerConnection): void {
    this.#connections.delete(connection);
    this.changed();
  }

  /** @param asked The offset that the session object goes on from. */
  setInner(inner: InnerServer, asked: number | undefined): void {
    this.#bell.answered();
    const old = this.#inner;
    this.#inner = inner;
    // The old one's clients vanish before the new one attaches them again.
    old?.close(4409, "replaced by a newer connection");
    inner.open(this.#bell.canCall ? { ...this.facts, calls: true } : this.facts, asked);
    if (this.session.panes !== undefined) inner.note(this.session.panes);
    if (this.session.facts.tty) inner.note(this.#echoOf(this.#echo.isOn));
    this.#connected();
  }

  removeInner(inner: InnerServer): void {
    if (this.#inner === inner) {
      this.#bell.gone(inner, performance.now());
      this.#inner = undefined;
    }
    this.changed();
  }

  #connected(): void {
    if (this.#lifespan.hasExited) this.#tellExit();
    this.changed();
  }

  /** Tells all clients and the session object that the bridge stops. */
  shutDown(): void {
    for (const connection of this.#connections) connection.bye(1001, "the bridge is shutting down", "after");
    this.#inner?.close(1001, "the bridge is shutting down");
  }

  // ---- What the process does: ProcessOwner ---------------------------------------------------------------------

  /** The answerer of queries in this output must be known before a client is sent it. */
  committed(): void {
    this.#answers?.appended();
    this.#process.screen?.appended();
  }

  appended(): void {
    this.#echo.look(performance.now());
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

  sized(cols: number, rows: number): void {
    this.session.sized({ cols, rows });
  }

  commandEnded(end: CommandEnd): void {
    this.#noteBehindOutput({ type: "command_end", ...end });
  }

  attention(attention: Attention): void {
    this.#noteBehindOutput({ type: "attention", ...attention });
  }

  titled(title: string): void {
    this.session.title = title;
    this.#noteBehindOutput({ type: "title", title });
  }

  ended(status: ExitStatus): void {
    this.#lifespan.exited(performance.now());
    this.trace?.(`ended: ${JSON.stringify(status)}, the log ends at ${this.session.log.endOffset}`);
    this.#writer.close();
    const isTold = this.#inner !== undefined || this.#connections.size > 0; // Connections close as they are told.
    this.session.exited(status);
    if (isTold) this.#tellExit();
    this.changed();
  }

  // ---- What happens to the session -----------------------------------------------------------------------------

  panesChanged(panes: PanesMessage): void {
    this.session.tellPanes(panes);
    this.#inner?.note(panes);
  }

  /** The bridge was told to stop: it ends the process after so many seconds. */
  stopping(seconds: number): void {
    this.session.stopping(seconds);
    this.#inner?.note({ type: "stopping", seconds });
    this.#bell.stopping();
    this.changed();
  }

  /** The session object can be called from now on. */
  callable(): void {
    this.#noteBehindOutput({ type: "calls" });
  }

  #echoOf(on: boolean) {
    return { type: "echo", on, offset: this.session.log.endOffset } as const;
  }

  #noteBehindOutput(message: Parameters<InnerServer["note"]>[0]): void {
    setImmediate(() => {
      // Output that was read may wait for more of a flood; a message about it comes behind it.
      this.session.appended();
      this.#inner?.note(message);
    });
  }

  // ---- What the session has the process do: Upstream -----------------------------------------------------------

  attached(): void {
    this.changed();
  }

  input(client: ClientRecord): void {
    this.#echo.look(performance.now());
    this.#writer.push(client);
  }

  signal(_client: ClientRecord, signal: string): void {
    this.#process.child.signal(signal);
  }

  resize(_client: ClientRecord | undefined, { cols, rows }: TerminalSize): void {
    if (!this.#lifespan.hasExited) this.#process.child.resize(cols, rows);
  }

  /** Ends every process of the session. Resolves once the exit is known. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  pane(client: ClientRecord, order: PaneOrder): void {
    if (this.#panes === undefined) client.tell(NO_PANES);
    else this.#panes.order(client, order);
  }

  acked(client: ClientRecord): void {
    // Many clients may acknowledge at once, and mostly only one of them can set the process going.
    if (this.#process.isHeld && this.session.mayReleaseProcess(client)) this.changed();
  }

  departed(client: ClientRecord): void {
    this.#panes?.departed(client);
    this.changed();
  }

  holder(): void {
    this.#echo.look(performance.now());
  }

  answerer(answerer: Answerer): boolean {
    this.#answers?.answererIs(answerer);
    return false;
  }

  async #draw(screen: SessionScreen): Promise<void> {
    this.session.snapshotReady(await screen.snapshot());
    this.changed();
  }

  // ---- Time and pace -------------------------------------------------------------------------------------------

  /** To be called after anything that may have changed who is attached, what is acknowledged or what is due. */
  changed(): void {
    if (this.#isRemoved) return;
    if (this.#process.hold(this.session.shouldHold)) {
      const verb = this.#process.isHeld ? "hold" : "release";
      this.trace?.(`decides to ${verb} the process: ${describePace(this.session)}`);
    }
    const nowMs = performance.now();
    // A session object without clients is connected, or has parked, for as long as a program's call needs it (P4).
    const isCalled = this.#inner !== undefined || this.#bell.isKept(nowMs);
    this.#lifespan.look(this.session.isAttended || isCalled, nowMs);
    this.#deadline.look();
  }

  /** The same, once all sockets have been served that have something to say in this turn of the event loop. */
  changedSoon(): void {
    if (this.#isLookDue) return;
    this.#isLookDue = true;
    setImmediate(() => {
      this.#isLookDue = false;
      this.changed();
    });
  }

  get #progress() {
    return { endOffset: this.session.log.endOffset, hasEnded: this.session.exit !== undefined };
  }

  #tellExit(): void {
    this.#exitToldAtMs ??= performance.now();
    this.#exitTold.resolve();
  }

  /** Forgets the session: its exit need not be told any more. */
  remove(): void {
    this.#isRemoved = true;
    this.#tellExit();
    this.#deadline.stop();
    this.#answers?.close();
    this.#process.screen?.close();
    this.#onEnd(this);
  }
}
