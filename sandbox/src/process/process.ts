// A program on a PTY or on three pipes: the interface of all processes, and the one implementation for programs. Knows nothing of
// sessions, clients or sockets. No callback runs inside startProcess.

import { fchownSync } from "node:fs";
import { DEFAULT_LINGER_SECONDS } from "sandbox-stdio/core";
import { type ChildUser, type Start, startAs } from "../base/child-user.ts";
import { F_SETFL, LibcError, libc, O_CLOEXEC, O_NONBLOCK } from "../base/libc.ts";
import type { Namespace } from "../base/namespace.ts";
import { resolveCommand, type StartFault } from "./command.ts";
import { type Elsewhere, send } from "./elsewhere.ts";
import { abandon, type ExitStatus, SessionLeader, signalGroup } from "./leader.ts";
import { poller } from "./poller.ts";
import { ProcessInput } from "./process-input.ts";
import { type OutputSink, ProcessOutput } from "./process-output.ts";
import { endOfFileCharacter, foregroundGroup, isEchoing, openPty, resizePty } from "./pty.ts";
import { type StandardStreams, spawn } from "./spawn.ts";

export type { StartFault } from "./command.ts";
export type { ExitStatus } from "./leader.ts";
export type { OutputSink } from "./process-output.ts";

export type ProcessSpec = {
  /** A path if it has a slash (relative to `cwd`), else looked for on `env.PATH`. Never parsed by a shell. */
  cmd: string;
  args: readonly string[];
  /** The whole environment: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** True: a PTY of `cols` by `rows`. False: three pipes. */
  tty: boolean;
  cols: number;
  rows: number;
  /** After the exit, waits for output of other processes that hold the streams until this long has passed without a byte. */
  lingerMs?: number | undefined;
  /** Undefined: the bridge's own user. */
  user?: ChildUser | undefined;
  /** Where `cmd` and `cwd` are meant. Undefined: where the bridge is. */
  namespace?: Namespace | undefined;
  /** Present if `cmd` is only the client of a program in another place: signals are for that. */
  elsewhere?: Elsewhere | undefined;
};

export type ProcessEvents = {
  /** The kernel takes more input, after a write that it did not take whole. */
  onWritable(): void;
  /** The other side of a connection has sent its last byte, and may still read. Programs have no such end before their exit. */
  onOutputEnd?(): void;
  /** The terminal of a pane has this size now. Other processes have the size of the last {@link ChildProcess.resize}. */
  onResized?(cols: number, rows: number): void;
  /** Once, after the last output byte was committed and flushed. */
  onExit(status: ExitStatus): void;
};

/** A started program, leader of its session and process group. Its resources are freed after `onExit`. */
export interface ChildProcess {
  readonly pid: number;
  readonly tty: boolean;
  /**
   * Stops reading output, after a last flush. The program then blocks in the kernel once its buffer is full (a PTY: some
   * 20 KB, a pipe: 64 KB). If it exits meanwhile, the rest and `onExit` come after `release`.
   */
  hold(): void;
  release(): void;
  /** @returns How many bytes were taken: see {@link ProcessInput.write}. Never blocks. */
  write(bytes: Uint8Array): number;
  /** Ends the input of a program on pipes. On a PTY the end is typed instead: write {@link veof}. */
  closeStdin(): void;
  /** The character that ends input on the PTY, as the program has set it; 0: none, or no PTY. */
  veof(): number;
  /** Whether the PTY shows what is typed; undefined after the exit. Absent without a PTY. */
  isEchoing?(): boolean | undefined;
  /** The PTY's new size. Nothing on pipes and after the exit. */
  resize(cols: number, rows: number): void;
  /**
   * Signals the foreground process group of the PTY; on pipes the program's own group. False: the group is empty.
   * @throws {RangeError} If there is no such signal.
   */
  signal(name: string): boolean;
  /**
   * Signals every process of the session: other process groups too and, for a minute after the program's exit, the processes that
   * it left behind. @throws {RangeError} If there is no such signal.
   */
  signalAll(name: string): void;
}

/** {@link ProcessSpec.lingerMs}, unless the caller says otherwise. */
const LINGER_MS = 1_000 * DEFAULT_LINGER_SECONDS;

/** From this code on, a failure may be the client's own, like 255 of ssh. */
const CLIENT_FAILED = 125;

/**
 * Starts a program. Returns once the kernel has accepted it, or why it could not be started; nothing has run then.
 * The poller keeps the runtime alive until `onExit`.
 */
export function startProcess(spec: ProcessSpec, sink: OutputSink, events: ProcessEvents): ChildProcess | StartFault {
  const start = startOf(spec);
  if ("fault" in start) return start;
  try {
    const streams = spec.tty ? ptyStreams(spec.cols, spec.rows) : pipeStreams();
    const { user } = spec;
    // A program that runs as another user must be able to open what it was given: /dev/tty, /dev/stdout.
    if (user !== undefined) {
      for (const fd of [...streams.untilStart, ...streams.untilExit]) fchownSync(fd, user.uid, user.gid);
    }
    const pid = spawn(start.path, start.argv, start.env, start.cwd, streams.given);
    for (const fd of streams.untilStart) libc.close(fd);
    if (typeof pid === "number") return takeOver(pid, streams, sink, events, spec);
    closeOurs(streams);
    return pid;
  } catch (error) {
    if (error instanceof LibcError) return { fault: "start_failed", detail: error.message };
    throw error;
  }
}

/** How a program is started: as its user, and in its namespace. */
export function startOf(
  spec: Pick<ProcessSpec, "cmd" | "args" | "env" | "cwd" | "user" | "namespace">,
): Start | StartFault {
  const { cmd, args, env, cwd, user, namespace } = spec;
  // With their own rights only: ours would tell them of files that they may not see.
  if (user?.login !== undefined) return startAs(user, cmd, spec);
  const command = resolveCommand(cmd, cwd, env.PATH, namespace?.outside);
  if ("fault" in command) return command;
  const wanted =
    user === undefined ? { ...command, argv: [cmd, ...args], env, cwd } : startAs(user, command.path, spec);
  return namespace?.within(wanted) ?? wanted;
}

/** The descriptors of one program, and when they are closed. */
type Streams = {
  given: StandardStreams;
  input: number;
  outputs: readonly { fd: number; stream: 1 | 2 }[];
  untilStart: readonly number[];
  untilExit: readonly number[];
  /** The PTY's master, which is also the one output. */
  master?: number;
};

function ptyStreams(cols: number, rows: number): Streams {
  const { master, input, slave, slavePath } = openPty(cols, rows);
  return {
    given: { kind: "terminal", path: slavePath },
    input,
    outputs: [{ fd: master, stream: 1 }],
    untilStart: [],
    untilExit: [slave],
    master,
  };
}

function pipeStreams(): Streams {
  const { ours, theirs } = openPipes();
  return {
    given: { kind: "descriptors", ...theirs },
    input: ours.stdin,
    outputs: [
      { fd: ours.stdout, stream: 1 },
      { fd: ours.stderr, stream: 2 },
    ],
    untilStart: [theirs.stdin, theirs.stdout, theirs.stderr],
    untilExit: [],
  };
}

function closeOurs(streams: Streams): void {
  for (const fd of [streams.input, ...streams.untilExit]) libc.close(fd);
  for (const { fd } of streams.outputs) libc.close(fd);
}

function takeOver(
  pid: number,
  streams: Streams,
  sink: OutputSink,
  events: ProcessEvents,
  spec: ProcessSpec,
): ChildProcess {
  try {
    return new RunningProcess(pid, streams, sink, events, spec);
  } catch (error) {
    abandon(pid);
    closeOurs(streams);
    throw error;
  }
}

class RunningProcess implements ChildProcess {
  readonly tty: boolean;
  readonly #leader: SessionLeader;
  readonly #input: ProcessInput;
  readonly #outputs: Set<ProcessOutput>;
  readonly #master: number | undefined;
  readonly #untilExit: readonly number[];
  readonly #onExit: (status: ExitStatus) => void;
  readonly #spec: ProcessSpec;
  #status: ExitStatus | undefined;
  #isHeld = false;
  #isFinished = false;
  /** When the silence after the exit began: at the exit, or a later release. */
  #quietSinceMs = 0;
  #quietTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(pid: number, streams: Streams, sink: OutputSink, events: ProcessEvents, spec: ProcessSpec) {
    this.#spec = spec;
    this.tty = streams.master !== undefined;
    this.#master = streams.master;
    this.#untilExit = streams.untilExit;
    this.#onExit = (status) => events.onExit(status);
    this.#leader = new SessionLeader(pid, (status) => this.#exited(status));
    this.#input = new ProcessInput(streams.input, () => events.onWritable());
    this.#outputs = new Set(
      streams.outputs.map(({ fd, stream }) => {
        const output: ProcessOutput = new ProcessOutput(fd, stream, sink, () => {
          this.#outputs.delete(output);
          this.#settle();
        });
        return output;
      }),
    );
  }

  get pid(): number {
    return this.#leader.pid;
  }

  hold(): void {
    this.#isHeld = true;
    for (const output of this.#outputs) {
      output.hold();
      // The flushed bytes may have led to a release.
      if (!this.#isHeld) return;
    }
  }

  release(): void {
    this.#isHeld = false;
    for (const output of this.#outputs) output.release();
    this.#quietSinceMs = performance.now();
    this.#settle();
  }

  write(bytes: Uint8Array): number {
    for (const output of this.#outputs) output.expectAnswer();
    return this.#input.write(bytes);
  }

  closeStdin(): void {
    if (!this.tty) this.#input.close();
  }

  veof(): number {
    return this.#master === undefined || this.#status !== undefined ? 0 : endOfFileCharacter(this.#master);
  }

  isEchoing(): boolean | undefined {
    return this.#master === undefined || this.#status !== undefined ? undefined : isEchoing(this.#master);
  }

  resize(cols: number, rows: number): void {
    if (this.#master !== undefined && this.#status === undefined) resizePty(this.#master, cols, rows);
  }

  signal(name: string): boolean {
    if (this.#status !== undefined) return false;
    for (const output of this.#outputs) output.expectAnswer();
    const { elsewhere } = this.#spec;
    if (elsewhere !== undefined) return this.#signalElsewhere(elsewhere, name);
    const group = this.#master === undefined ? this.pid : foregroundGroup(this.#master);
    return group !== undefined && signalGroup(group, name);
  }

  signalAll(name: string): void {
    const { elsewhere } = this.#spec;
    if (elsewhere !== undefined) this.#signalElsewhere(elsewhere, name);
    // Its client tells how it has ended, unless it is too late for that.
    if (elsewhere === undefined || name === "SIGKILL") this.#leader.signalAll(name);
  }

  #signalElsewhere(elsewhere: Elsewhere, name: string): boolean {
    const [cmd = "", ...args] = elsewhere.signalWords(name);
    const start = startOf({ ...this.#spec, cmd, args });
    if ("fault" in start) return false;
    send(start);
    return true;
  }

  #exited(status: ExitStatus): void {
    this.#status = status;
    // The client may have gone without the program.
    const { elsewhere } = this.#spec;
    if (elsewhere !== undefined && status.code >= CLIENT_FAILED) this.#signalElsewhere(elsewhere, "SIGKILL");
    this.#input.close();
    // With the last slave closed the master can report its end.
    for (const fd of this.#untilExit) libc.close(fd);
    this.#quietSinceMs = performance.now();
    this.#settle();
  }

  /** Reports the exit once all output is read. While another process may still write, watches for silence. */
  #settle(): void {
    if (this.#status === undefined || this.#isFinished) return;
    if (this.#outputs.size === 0) this.#finish(this.#status);
    else if (!this.#isHeld) this.#quietTimer ??= setTimeout(() => this.#checkQuiet(), this.#quietLeftMs());
  }

  #lingerMs(): number {
    return this.#spec.lingerMs ?? LINGER_MS;
  }

  #quietLeftMs(): number {
    const lastByteAtMs = [...this.#outputs].map((output) => output.lastByteAtMs);
    return Math.max(0, Math.ceil(Math.max(this.#quietSinceMs, ...lastByteAtMs) + this.#lingerMs() - performance.now()));
  }

  #checkQuiet(): void {
    this.#quietTimer = undefined;
    if (!this.#isHeld && this.#quietLeftMs() === 0) {
      // A busy event loop may have run this timer before the reports of readable bytes.
      for (const output of this.#outputs) if (output.readSome()) poller().enqueue(output);
      if (!this.#isHeld && this.#quietLeftMs() === 0) {
        for (const output of this.#outputs) output.close();
        this.#outputs.clear();
      }
    }
    this.#settle();
  }

  #finish(status: ExitStatus): void {
    this.#isFinished = true;
    if (this.#quietTimer !== undefined) clearTimeout(this.#quietTimer);
    this.#onExit(status);
  }
}

type StreamDescriptors = { stdin: number; stdout: number; stderr: number };
type Pipes = {
  /** Our ends, non-blocking. */
  ours: StreamDescriptors;
  /** The program's ends, blocking as programs expect; to be closed here once it runs. */
  theirs: StreamDescriptors;
};

/**
 * Three pipes: Bun.spawn would make socket pairs, which can't be reopened as /dev/stdout.
 * @throws {LibcError} If the machine has no more descriptors.
 */
function openPipes(): Pipes {
  const opened: number[] = [];
  try {
    const [stdin, stdout, stderr] = [pipeOf(opened), pipeOf(opened), pipeOf(opened)];
    // The flag belongs to one end: the program's stays blocking.
    for (const fd of [stdin.write, stdout.read, stderr.read]) setNonBlocking(fd);
    return {
      ours: { stdin: stdin.write, stdout: stdout.read, stderr: stderr.read },
      theirs: { stdin: stdin.read, stdout: stdout.write, stderr: stderr.write },
    };
  } catch (error) {
    for (const fd of opened) libc.close(fd);
    throw error;
  }
}

function pipeOf(opened: number[]): { read: number; write: number } {
  const ends = new Int32Array(2);
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw new LibcError("open a pipe");
  const [read = -1, write = -1] = ends;
  opened.push(read, write);
  return { read, write };
}

function setNonBlocking(fd: number): void {
  if (libc.fcntl(fd, F_SETFL, O_NONBLOCK) !== 0) throw new LibcError("make a pipe non-blocking");
}
