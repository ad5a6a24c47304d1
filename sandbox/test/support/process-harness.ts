// Starts real programs for the tests and collects what they say.

import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import {
  type ChildProcess,
  type ExitStatus,
  type OutputSink,
  type ProcessSpec,
  type StartFault,
  startProcess,
} from "../../src/process/process.ts";

export const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", TERM: "xterm-256color", LANG: "C.UTF-8" };

/** Keeps all output, and lets tests wait for it. */
export class Collector implements OutputSink {
  readonly chunks: { 1: Buffer[]; 2: Buffer[] } = { 1: [], 2: [] };
  /** Called after each commit and flush. */
  onCommit: (bytes: Uint8Array, stream: 1 | 2) => void = () => undefined;
  onFlush: () => void = () => undefined;
  readonly #room: Uint8Array;
  #waiting: (() => void)[] = [];
  unflushedBytes = 0;
  totalBytes = 0;

  constructor(roomBytes = 65_536) {
    this.#room = new Uint8Array(roomBytes);
  }

  reserve(): Uint8Array {
    return this.#room;
  }

  commit(length: number, stream: 1 | 2): void {
    const bytes = Buffer.from(this.#room.subarray(0, length));
    this.chunks[stream].push(bytes);
    this.unflushedBytes += length;
    this.totalBytes += length;
    this.onCommit(bytes, stream);
  }

  flush(): void {
    this.unflushedBytes = 0;
    this.onFlush();
    for (const look of this.#waiting) look();
  }

  text(stream: 1 | 2 = 1): string {
    return Buffer.concat(this.chunks[stream]).toString();
  }

  /** Resolves with the match once flushed output matches. */
  until(pattern: RegExp, stream: 1 | 2 = 1): Promise<RegExpExecArray> {
    return new Promise((resolve) => {
      const look = (): void => {
        const match = pattern.exec(this.text(stream));
        if (match === null) return;
        this.#waiting = this.#waiting.filter((other) => other !== look);
        resolve(match);
      };
      this.#waiting.push(look);
      look();
    });
  }
}

export type Run<Sink extends OutputSink> = {
  child: ChildProcess;
  sink: Sink;
  exited: Promise<ExitStatus>;
  /** Writes all of it, waiting for room as often as needed. */
  type(input: string | Uint8Array): Promise<void>;
};

type Options = Partial<Omit<ProcessSpec, "cmd" | "args">>;

/** Starts `command`; throws if it can't be started. */
export function start(command: readonly string[], options?: Options): Run<Collector>;
export function start<Sink extends OutputSink>(command: readonly string[], options: Options, sink: Sink): Run<Sink>;
export function start(
  command: readonly string[],
  options: Options = {},
  sink: OutputSink = new Collector(),
): Run<OutputSink> {
  let writable: () => void = () => undefined;
  let resolveExited: (status: ExitStatus) => void = () => undefined;
  const exited = new Promise<ExitStatus>((resolve) => {
    resolveExited = resolve;
  });
  const child = startProcess(spec(command, options), sink, { onWritable: () => writable(), onExit: resolveExited });
  if ("fault" in child) throw new Error(`${child.fault}: ${child.detail}`);
  const type = async (input: string | Uint8Array): Promise<void> => {
    let rest = typeof input === "string" ? new TextEncoder().encode(input) : input;
    while (rest.length > 0) {
      const hasRoom = new Promise<void>((resolve) => {
        writable = resolve;
      });
      const count = child.write(rest);
      rest = rest.subarray(count);
      if (rest.length > 0) await hasRoom;
    }
  };
  return { child, sink, exited, type };
}

/** Why `command` can't be started; throws if it can. */
export function refused(command: readonly string[], options: Options = {}): StartFault {
  const child = startProcess(spec(command, options), new Collector(), {
    onWritable: () => undefined,
    onExit: () => undefined,
  });
  if ("fault" in child) return child;
  child.signalAll("SIGKILL");
  throw new Error(`${command.join(" ")} did start`);
}

function spec([cmd = "", ...args]: readonly string[], options: Options): ProcessSpec {
  return { cmd, args, env: ENV, cwd: tmpdir(), tty: false, cols: 80, rows: 24, ...options };
}

/** A shell on a raw terminal without echo, then `command` in its place. */
export function raw(command: string): string[] {
  return ["sh", "-c", `stty raw -echo && exec ${command}`];
}

export type ProcessFacts = { state: string; parent: number; session: number; cpuTicks: number };

/** What /proc says of a process, or undefined if there is none. */
export function inspect(pid: number): ProcessFacts | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    // The process has ended: ENOENT, or ESRCH in the middle of the read.
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const number = (index: number): number => Number(fields[index]);
  return { state: fields[0] ?? "", parent: number(1), session: number(3), cpuTicks: number(11) + number(12) };
}

/** Has ended, whether or not its parent has taken notice (an orphan's new parent may be slow). */
export function isGone(pid: number): boolean {
  return (inspect(pid)?.state ?? "Z") === "Z";
}

/** Zombies among this process's children. */
export function zombies(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      const facts = pid > 0 ? inspect(pid) : undefined;
      return facts?.parent === process.pid && facts.state === "Z";
    });
}

/** Resolves once `claim` holds: for facts that the kernel does not announce. The test's timeout is the limit. */
export async function eventually(claim: () => boolean): Promise<void> {
  while (!claim()) await Bun.sleep(2); // Real time, also where setTimeout keeps to a test's clock.
}
