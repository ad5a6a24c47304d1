// The process of one session: its output goes into an output log and, on a PTY, to a screen and the marks of its shell.
// Starts it, holds it back and ends it.

import {
  commandWords,
  DEFAULT_COLS,
  DEFAULT_ROWS,
  defined,
  type ExitStatus,
  MAX_FRAME_BYTES,
  OutputLog,
  type ProcessFacts,
  type ProcessWish,
  type TerminalSize,
} from "sandbox-stdio/core";
import { type StartOrder, TimeIndex } from "sandbox-stdio/programs";
import { type SessionMarkEvents, SessionMarks } from "../marks/session-marks.ts";
import { Elsewhere } from "../process/elsewhere.ts";
import {
  type ChildProcess,
  type OutputSink,
  type ProcessEvents,
  type StartFault,
  startProcess,
} from "../process/process.ts";
import { connectTcp } from "../process/tcp.ts";
import { SessionScreen } from "../screen/session-screen.ts";
import { scripts, withMarks } from "../shell/integration.ts";
import type { Surroundings } from "./surroundings.ts";

/** The first read of an idle process asks for little. */
const SMALL_READ_BYTES = 4_096;
/** Shared by the first reads of all processes, whose bytes are copied into logs that grow: an idle session's log stays small. */
const FIRST_ROOM = new Uint8Array(SMALL_READ_BYTES);

/** The fault of what can't be had behind a command. */
export const NOT_ELSEWHERE =
  "this server's programs run behind a command (--exec): it has no ports, files and tmux panes of theirs";

const DEFAULT_SIZE = { cols: DEFAULT_COLS, rows: DEFAULT_ROWS };

const HANGUP_GRACE_MS = 1_000;
const TERMINATE_GRACE_MS = 2_000;
/** On a PTY, SIGHUP is sent twice: bash only notes one that comes while it draws its prompt, and then waits for a key. */
const SECOND_HANGUP_MS = 300;

/** The session of a process: told of its output and its end. */
export interface ProcessOwner extends SessionMarkEvents {
  /** More output is in the log: called for each piece, before {@link appended} for all that was read at once. */
  committed(): void;
  appended(): void;
  /** The process takes input again. */
  writable(): void;
  /** The process writes no more output, and may still take input. */
  outputEnded(): void;
  /** Another program has given the terminal this size, for the output that comes next. */
  sized(cols: number, rows: number): void;
  ended(status: ExitStatus): void;
}

export class LoggedProcess implements OutputSink, ProcessEvents {
  readonly cmd: readonly string[];
  readonly log: OutputLog;
  /** When output came, by this machine's clock. */
  readonly times = new TimeIndex();
  /** Absent on pipes. */
  readonly screen: SessionScreen | undefined;
  readonly #createdAt = new Date().toISOString();
  readonly #panes: Surroundings["panes"];
  /** Set by {@link start}, before its caller sees the process. */
  #child!: ChildProcess;
  #owner: ProcessOwner | undefined;
  #marks: SessionMarks | undefined;
  #reserved: Uint8Array = new Uint8Array(0);
  #readBytes = SMALL_READ_BYTES;
  /** Output since the owner was last told: a small log can't wait for a frame of it. */
  #unseenBytes = 0;
  readonly #exit = Promise.withResolvers<ExitStatus>();
  #isHeld = false;
  #isEnding = false;
  #hasExited = false;

  /** @returns The process, or why it can't be started: nothing has run then. */
  static start(
    { process: wish, size = DEFAULT_SIZE }: Pick<StartOrder, "process" | "size">,
    surroundings: Surroundings,
  ): LoggedProcess | StartFault {
    const process = new LoggedProcess(wish, surroundings.paneSize ?? size, surroundings.panes);
    const child = startChild(process, wish, size, surroundings);
    if ("fault" in child) {
      process.screen?.close();
      return child;
    }
    process.#child = child;
    return process;
  }

  private constructor(wish: ProcessWish, size: TerminalSize, panes: Surroundings["panes"]) {
    this.cmd = commandWords(wish) ?? ["bash"];
    this.log = new OutputLog(size, wish.logBytes);
    this.screen = wish.tty ? new SessionScreen(this.log) : undefined;
    this.#panes = panes;
  }

  /** To be called before the event loop turns: nothing happens to the process until then. */
  belongTo(owner: ProcessOwner): void {
    this.#owner = owner;
    if (this.screen !== undefined) this.#marks = new SessionMarks(owner, () => performance.now());
  }

  get child(): ChildProcess {
    return this.#child;
  }

  /** Absent on pipes. */
  get marks(): SessionMarks | undefined {
    return this.#marks;
  }

  get facts(): ProcessFacts {
    return { cmd: this.cmd, createdAt: this.#createdAt, ...defined({ lastOutputMs: this.times.lastMs }) };
  }

  // ---- Output --------------------------------------------------------------------------------------------------

  reserve(): Uint8Array {
    const isFirst = this.#readBytes === SMALL_READ_BYTES && this.log.endOffset < SMALL_READ_BYTES;
    this.#reserved = isFirst ? FIRST_ROOM : this.log.reserve(this.#readBytes);
    return this.#reserved;
  }

  commit(length: number, stream: 1 | 2): void {
    const { log } = this;
    if (log.endOffset === 0) this.#panes?.begun();
    this.times.note(log.endOffset, Date.now());
    this.#marks?.scan(this.#reserved.subarray(0, length), log.endOffset);
    this.#readBytes = length >= SMALL_READ_BYTES / 2 ? log.frameBytes : SMALL_READ_BYTES;
    if (this.#reserved === FIRST_ROOM) log.append(this.#reserved.subarray(0, length), stream);
    else log.commit(length, stream);
    this.#owner?.committed();
    this.#unseenBytes += length;
    if (this.#unseenBytes >= log.frameBytes && log.frameBytes < MAX_FRAME_BYTES) this.flush();
  }

  flush(): void {
    this.#unseenBytes = 0;
    this.#owner?.appended();
  }

  // ---- Events --------------------------------------------------------------------------------------------------

  onWritable(): void {
    this.#owner?.writable();
  }

  onOutputEnd(): void {
    this.#owner?.outputEnded();
  }

  onResized(cols: number, rows: number): void {
    this.#owner?.sized(cols, rows);
  }

  onExit(status: ExitStatus): void {
    this.#hasExited = true;
    this.#marks?.commands.close(this.log.endOffset);
    this.#exit.resolve(status);
    this.#owner?.ended(status);
  }

  // ---- Control -------------------------------------------------------------------------------------------------

  /** Resolves once the exit is known. */
  get exited(): Promise<ExitStatus> {
    return this.#exit.promise;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** @param isWanted Whether the process should wait. One that is being ended does not. @returns Whether that changed anything. */
  hold(isWanted: boolean): boolean {
    const shouldHold = isWanted && !this.#isEnding;
    if (shouldHold === this.#isHeld || this.#hasExited) return false;
    this.#isHeld = shouldHold;
    if (this.screen !== undefined) this.screen.isHeld = shouldHold;
    if (shouldHold) this.#child.hold();
    else this.#child.release();
    return true;
  }

  /** SIGHUP, then SIGTERM, then SIGKILL to every process of the session. Resolves once the exit is known. */
  async kill(): Promise<void> {
    if (!this.#isEnding && !this.#hasExited) {
      this.#isEnding = true;
      // A process that is held back must be read to its end, or its exit is never seen.
      this.#child.release();
      this.#child.signalAll("SIGHUP");
      if (this.#child.tty) this.#signalLater("SIGHUP", SECOND_HANGUP_MS);
      this.#signalLater("SIGTERM", HANGUP_GRACE_MS);
      this.#signalLater("SIGKILL", HANGUP_GRACE_MS + TERMINATE_GRACE_MS);
    }
    await this.exited;
  }

  #signalLater(signal: string, ms: number): void {
    setTimeout(() => this.#child.signalAll(signal), ms).unref();
  }
}

function startChild(
  process: LoggedProcess,
  wish: ProcessWish,
  size: TerminalSize,
  { env, home, user, namespace, exec, panes, openPane }: Surroundings,
): ChildProcess | StartFault {
  if (openPane !== undefined) return openPane(process, process);
  if (exec !== undefined && (wish.tcp !== undefined || panes !== undefined))
    return { fault: "start_failed", detail: NOT_ELSEWHERE };
  if (wish.tcp !== undefined) return connectTcp(wish.tcp, process, process);
  if (exec !== undefined) {
    const { tty, cwd } = wish;
    const terminal: (readonly [string, string])[] = tty ? [["TERM", "xterm-256color"]] : [];
    const there = { words: commandWords(wish) ?? [], env: [...terminal, ...wish.env], cwd, tty, size };
    const elsewhere = new Elsewhere(exec.command, exec.sandbox, there);
    const [cmd = "", ...args] = elsewhere.argv;
    return startProcess({ cmd, args, env, cwd: home, tty, ...size, user, elsewhere }, process, process);
  }
  const [cmd = "", ...args] = process.cmd;
  const directory = wish.tty && wish.shellIntegration !== false ? scripts() : undefined;
  const marked = directory === undefined ? undefined : withMarks(cmd, args, env, directory);
  const words = [cmd, ...(marked?.args ?? args)];
  const command = panes?.command(words, size) ?? { cmd, args: words.slice(1) };
  if ("fault" in command) return command;
  const spec = {
    ...command,
    env: { ...(marked?.env ?? env) },
    cwd: wish.cwd ?? home,
    tty: wish.tty,
    ...size,
    lingerMs: wish.linger === undefined ? undefined : wish.linger * 1000,
    user,
    namespace,
  };
  return startProcess(spec, process, process);
}
