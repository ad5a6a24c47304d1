// One session and its process: feeds the process what the session's clients type, holds it back when the session says so,
// and ends it when nobody is left. Decisions are the session's; this carries them out.

import {
  type AttachQuery,
  DEFAULT_COLS,
  DEFAULT_ROWS,
  describePace,
  EXITED_KEEP_MS,
  type ExitStatus,
  type InnerServer,
  MAX_FRAME_BYTES,
  OutputLog,
  type ProcessFacts,
  ProcessSession,
  type ProcessWish,
  type ProgramPorts,
  type ServerConnection,
  type TerminalSize,
  type Trace,
  tracedUpstream,
  type Upstream,
} from "sandbox-stdio/core";
import { type Attention, processIdentity } from "sandbox-stdio/programs";
import { Answers } from "./answers.ts";
import { HostPorts } from "./host-ports.ts";
import { InputWriter } from "./input-writer.ts";
import { SessionMarks } from "./marks/session-marks.ts";
import { type ChildProcess, type StartFault, startProcess } from "./process/process.ts";
import { SessionScreen } from "./screen/session-screen.ts";
import { scripts, withMarks } from "./shell/integration.ts";
import type { Surroundings } from "./surroundings.ts";

/** Between the steps of ending a process: SIGHUP, SIGTERM, SIGKILL. */
const HANGUP_GRACE_MS = 1_000;
const TERMINATE_GRACE_MS = 2_000;
/** On a PTY it comes twice: bash only notes one that comes while it draws its prompt, and then waits for a key. What others do
 * on it, such as save, has this long. */
const SECOND_HANGUP_MS = 300;
/** Whoever asked for a process has this long to attach to it, however short its `keep`. */
const FIRST_ATTACH_MS = 10_000;
/** The first read of an idle process asks for little, so that an idle session's log stays small. */
const SMALL_READ_BYTES = 4_096;

/** How a process is started that no client attaches to at once. */
export type Unattended = {
  /** Which attempt of a program's has started it, where it says so. */
  readonly attempt: string | undefined;
  readonly keepExitedMs: number;
  readonly stdin: Uint8Array;
  readonly isStdinEnded: boolean;
};

export type HostNames = { readonly sandbox: string; readonly label: string; readonly session: string };

export class SessionHost {
  readonly names: HostNames;
  readonly session: ProcessSession;
  readonly facts: ProcessFacts;
  readonly trace: Trace | undefined;
  /** Absent on pipes. */
  readonly #screen: SessionScreen | undefined;
  readonly #marks: SessionMarks | undefined;
  readonly #answers: Answers | undefined;
  readonly #child: ChildProcess;
  readonly #writer: InputWriter;
  readonly #keepMs: number;
  readonly #exitedKeepMs: number;
  readonly #wish: ProcessWish;
  readonly attempt: string | undefined;
  readonly #onEnd: (host: SessionHost) => void;
  readonly #connections = new Set<ServerConnection>();
  /** The newest inner hop: a Durable Object that comes back replaces its older connection. */
  #inner: InnerServer | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #isLookDue = false;
  #isHeld = false;
  #abandonedAtMs: number | undefined;
  #exitedAtMs: number | undefined;
  #isKilling = false;
  #isRemoved = false;
  readonly exited: Promise<ExitStatus>;

  /** @returns The host, or why the process can't be started: nothing has run then. */
  static start(
    names: HostNames,
    query: Pick<AttachQuery, "process" | "size">,
    surroundings: Surroundings,
    onEnd: (host: SessionHost) => void,
    unattended?: Unattended,
  ): SessionHost | StartFault {
    const wish = query.process;
    const cmd = wish.cmd ?? "bash";
    const size = query.size ?? { cols: DEFAULT_COLS, rows: DEFAULT_ROWS };
    const log = new OutputLog(size);
    const screen = wish.tty ? new SessionScreen(log) : undefined;
    let host: SessionHost | undefined;
    const marks = wish.tty
      ? new SessionMarks(
          {
            commandEnded: (end) => host?.note({ type: "command_end", ...end }),
            attention: (attention) => host?.attention(attention),
          },
          () => performance.now(),
        )
      : undefined;
    let reserved: Uint8Array = new Uint8Array(0);
    let readBytes = SMALL_READ_BYTES;
    const isMarking = wish.tty && wish.shellIntegration !== false;
    const marking = isMarking ? withMarks(cmd, wish.args, surroundings.env, scripts()) : undefined;
    const child = startProcess(
      {
        cmd,
        args: marking?.args ?? wish.args,
        env: { ...(marking?.env ?? surroundings.env) },
        cwd: wish.cwd ?? surroundings.home,
        tty: wish.tty,
        ...size,
        lingerMs: wish.linger === undefined ? undefined : wish.linger * 1000,
        ...(surroundings.user === undefined ? {} : { user: surroundings.user }),
      },
      {
        reserve: () => {
          reserved = log.reserve(readBytes);
          return reserved;
        },
        commit: (length, stream) => {
          marks?.scan(reserved.subarray(0, length), log.endOffset);
          readBytes = length >= SMALL_READ_BYTES / 2 ? MAX_FRAME_BYTES : SMALL_READ_BYTES;
          log.commit(length, stream);
          host?.committed();
        },
        flush: () => host?.appended(),
      },
      { onWritable: () => host?.writable(), onExit: (status) => host?.ended(status) },
    );
    if ("fault" in child) {
      screen?.close();
      return child;
    }
    const traced = surroundings.trace;
    host = new SessionHost(names, wish, [cmd, ...wish.args], log, screen, marks, child, onEnd, traced, unattended);
    return host;
  }

  #resolveExited: (status: ExitStatus) => void = () => {
    throw new Error("Cannot end before the start");
  };

  private constructor(
    names: HostNames,
    wish: ProcessWish,
    cmd: readonly string[],
    log: OutputLog,
    screen: SessionScreen | undefined,
    marks: SessionMarks | undefined,
    child: ChildProcess,
    onEnd: (host: SessionHost) => void,
    trace: Trace | undefined,
    unattended: Unattended | undefined,
  ) {
    this.trace = trace;
    this.#wish = wish;
    this.attempt = unattended?.attempt;
    this.#exitedKeepMs = Math.max(EXITED_KEEP_MS, unattended?.keepExitedMs ?? 0);
    this.#screen = screen;
    this.#marks = marks;
    this.names = names;
    this.facts = { cmd, createdAt: new Date().toISOString() };
    this.#child = child;
    this.#keepMs = wish.keep * 1000;
    this.#onEnd = onEnd;
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    const upstream: Upstream = {
      attached: () => this.changed(),
      input: (client) => this.#writer.push(client),
      signal: (_client, signal) => this.#child.signal(signal),
      resize: (_client, size) => this.#resize(size),
      kill: () => void this.kill(),
      acked: (client) => {
        // Many may acknowledge at once, and only one of them can set the process going.
        if (this.#isHeld && client === this.session.pacer) this.changed();
      },
      departed: () => this.changed(),
      holder: () => undefined,
      answerer: (answerer) => this.#answers?.answererIs(answerer),
    };
    this.session = new ProcessSession({
      facts: {
        sandbox: names.label,
        session: names.session,
        incarnation: crypto.randomUUID(),
        tty: wish.tty,
        mode: wish.mode,
        delivery: wish.delivery,
      },
      log,
      now: () => performance.now(),
      reuseFrames: true, // Bun's send copies before it returns.
      isAwaited: unattended === undefined || wish.delivery === "lossless",
      ...(screen === undefined ? {} : { screen: { request: () => void this.#drawScreen(screen) } }),
      upstream: tracedUpstream(upstream, trace),
    });
    this.#writer = new InputWriter(child, this.session);
    if (screen !== undefined) {
      const answers = new Answers({
        log,
        screen,
        announce: (offset) => this.#inner?.answered(offset),
        write: (answer) => this.#writer.pushOwn(answer),
      });
      this.#answers = answers;
      screen.onParsed = (given, offset) => answers.parsed(given, offset);
    }
    this.#abandonedAtMs = performance.now() + FIRST_ATTACH_MS;
    if (unattended !== undefined) this.#writer.begin(unattended.stdin, unattended.isStdinEnded);
    this.changed();
  }

  get state(): "running" | "exited" {
    return this.session.exit === undefined ? "running" : "exited";
  }

  get clientCount(): number {
    return this.session.attachedCount;
  }

  /** Whether a later client's `cmd` is this process. A client that names none takes what there is. */
  matches(query: AttachQuery): boolean {
    const { cmd, args } = query.process;
    return cmd === undefined || JSON.stringify([cmd, ...args]) === JSON.stringify(this.facts.cmd);
  }

  /** Whether this process was started as `wish` says, in every respect (P2). */
  isSame(wish: ProcessWish): boolean {
    return processIdentity(this.#wish) === processIdentity(wish);
  }

  // ---- Connections ---------------------------------------------------------------------------------------------

  addConnection(connection: ServerConnection): void {
    this.#connections.add(connection);
    this.changed();
  }

  removeConnection(connection: ServerConnection): void {
    this.#connections.delete(connection);
    this.changed();
  }

  setInner(inner: InnerServer, asked: number | undefined): void {
    const old = this.#inner;
    this.#inner = inner;
    // The old one's clients vanish before the new one attaches them again.
    old?.close(4409, "replaced by a newer connection");
    inner.open(this.facts, asked);
    this.changed();
  }

  removeInner(inner: InnerServer): void {
    if (this.#inner === inner) this.#inner = undefined;
    this.changed();
  }

  // ---- Process -------------------------------------------------------------------------------------------------

  /** More output is in the log: it must be known who answers what is asked in it before anybody is sent it. */
  committed(): void {
    this.#answers?.appended();
    this.#screen?.appended();
  }

  appended(): void {
    this.session.appended();
    this.changed();
  }

  writable(): void {
    this.#writer.pump();
    this.changed();
  }

  ended(status: ExitStatus): void {
    this.#exitedAtMs = performance.now();
    this.trace?.(`ended: ${JSON.stringify(status)}, the log ends at ${this.session.log.endOffset}`);
    this.#writer.close();
    this.session.exited(status);
    this.#resolveExited(status);
    this.changed();
  }

  /** SIGHUP, then SIGTERM, then SIGKILL to every process of the session. Resolves once the exit is known. */
  async kill(): Promise<void> {
    if (!this.#isKilling && this.#exitedAtMs === undefined) {
      this.#isKilling = true;
      // A process that is held back must be read to its end, or its exit is never seen.
      this.#child.release();
      this.#child.signalAll("SIGHUP");
      const steps: [number, string][] = [
        [HANGUP_GRACE_MS, "SIGTERM"],
        [HANGUP_GRACE_MS + TERMINATE_GRACE_MS, "SIGKILL"],
      ];
      if (this.#child.tty) steps.unshift([SECOND_HANGUP_MS, "SIGHUP"]);
      for (const [ms, signal] of steps) setTimeout(() => this.#child.signalAll(signal), ms).unref();
    }
    await this.exited;
  }

  /** Tells everybody that the bridge goes away. */
  shutDown(): void {
    for (const connection of this.#connections) connection.bye(1001, "the bridge is shutting down", "after");
    this.#inner?.close(1001, "the bridge is shutting down");
  }

  // ---- Time and pace -------------------------------------------------------------------------------------------

  /** To be called after anything that may have changed who is there, what is acknowledged or what is due. */
  changed(): void {
    if (this.#isRemoved) return;
    const shouldHold = this.session.shouldHold && !this.#isKilling;
    if (shouldHold !== this.#isHeld && this.#exitedAtMs === undefined) {
      this.#isHeld = shouldHold;
      this.trace?.(`decides ${shouldHold ? "to hold" : "to release"} the process: ${describePace(this.session)}`);
      if (this.#screen !== undefined) this.#screen.isHeld = shouldHold;
      if (shouldHold) this.#child.hold();
      else this.#child.release();
    }
    // A Durable Object without clients is connected for as long as a program's call needs it (P4).
    const isAttended = this.session.isAttended || this.#inner !== undefined;
    if (isAttended) this.#abandonedAtMs = undefined;
    else this.#abandonedAtMs ??= performance.now();
    this.#schedule();
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

  #schedule(): void {
    let next = this.session.nextTickMs ?? Number.POSITIVE_INFINITY;
    if (this.#exitedAtMs !== undefined) next = Math.min(next, this.#exitedAtMs + this.#exitedKeepMs);
    else if (this.#abandonedAtMs !== undefined) next = Math.min(next, this.#abandonedAtMs + this.#keepMs);
    for (const connection of this.#connections) next = Math.min(next, connection.silentAtMs ?? next);
    if (this.#inner !== undefined) next = Math.min(next, this.#inner.silentAtMs);
    // A timer that fires early looks again; only an earlier need moves it.
    if (next >= this.#timerAtMs) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = next;
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, Math.ceil(next - performance.now())));
  }

  #tick(): void {
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const connection of [...this.#connections]) {
      if ((connection.silentAtMs ?? Number.POSITIVE_INFINITY) <= now) connection.drop();
    }
    if (this.#inner !== undefined && this.#inner.silentAtMs <= now) this.#inner.close(1001, "nothing was heard");
    this.session.tick();
    if (this.#exitedAtMs !== undefined && this.#exitedAtMs + this.#exitedKeepMs <= now) {
      this.remove();
      return;
    }
    if (this.#abandonedAtMs !== undefined && this.#abandonedAtMs + this.#keepMs <= now && this.state === "running") {
      void this.kill();
    }
    this.changed();
  }

  // ---- Programs that call --------------------------------------------------------------------------------------

  /** Something that the output says: told behind that output. */
  note(message: Parameters<InnerServer["note"]>[0]): void {
    setImmediate(() => this.#inner?.note(message));
  }

  attention(attention: Attention): void {
    this.note({ type: "attention", ...attention });
    // Clients that are attached here directly.
    setImmediate(() => this.session.attention(attention));
  }

  /** What programs ask of this process. */
  get ports(): ProgramPorts {
    const called = () => {
      if (this.#abandonedAtMs !== undefined) this.#abandonedAtMs = performance.now();
    };
    return new HostPorts(this.session.log, this.#screen, this.#marks, called);
  }

  /** Forgets the session: its exit need not be told any more. */
  remove(): void {
    this.#isRemoved = true;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#answers?.close();
    this.#screen?.close();
    this.#onEnd(this);
  }

  async #drawScreen(screen: SessionScreen): Promise<void> {
    this.session.snapshotReady(await screen.snapshot());
    this.changed();
  }

  #resize(size: TerminalSize): void {
    if (this.#exitedAtMs === undefined) this.#child.resize(size.cols, size.rows);
  }
}
