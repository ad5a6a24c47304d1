// Long-running child processes: each in its own process group, its output in a log file; ended as a group, and ended
// too when this process dies without a chance to (guard.ts). Knows nothing of the children's kinds.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { Socket } from "node:net";
import { basename, dirname, extname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isErrorCode, makePrivateDirectory } from "../base/files.ts";
import { killMarked } from "./proc.ts";

/** How long a child that has ended is given for the rest of its stderr, milliseconds. */
const STDERR_GRACE_MS = 1_000;

/** Lines of a child's output, in a report of its end. */
const LAST_LINES = 40;

/** Size at which a log is rotated; one older file is kept. */
const MOST_LOG_BYTES = 8 * 1024 * 1024;

/** Characters of a child's stderr that are remembered. */
const STDERR_REMEMBERED = 16_384;

export type ExitStatus = { code: number } | { signal: NodeJS.Signals };

export interface ChildOptions {
  /** Its name in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Bytes that it reads from descriptor 3, to the end: a secret, which would be seen in its environment. */
  readonly secret?: string;
  /** Gets stdout and stderr; started anew, mode 600, and what it held kept once as `.old`. Absent: they go to ours. */
  readonly logFile?: string;
  /** With a log file: lines that are left out of it. */
  readonly leavesOut?: RegExp;
  /** Without a log file: stderr goes to ours by way of this process, which remembers its end for `lastLines`. */
  readonly remembersStderr?: boolean;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string | undefined;
  /** Settles when the process has ended, for any reason. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  readonly hasExited: boolean;
  /** The last lines of its log, or of a stderr that is remembered, at most `count`; "" where it has neither. */
  lastLines(count: number): string;
  /**
   * SIGTERM to the group, and SIGKILL to what is left of it once the first process has ended or `graceMs` has passed. 0:
   * SIGKILL at once.
   */
  stop(graceMs: number): Promise<void>;
  /** Lets the child outlive this process, which no longer waits for its end. */
  release(): void;
}

/** How a child has ended, for a report. */
export interface Ending {
  readonly succeeded: boolean;
  /** "exit code 1", or a signal's name. */
  readonly exit: string;
  /** The last lines of its output, as far as they are known here. */
  readonly lastLines: string;
}

/** Waits for the child's end. */
export async function ending(child: Child): Promise<Ending> {
  const status = await child.exited;
  const succeeded = "code" in status && status.code === 0;
  return { succeeded, exit: describeExit(status), lastLines: child.lastLines(LAST_LINES) };
}

export function describeExit(status: ExitStatus): string {
  return "code" in status ? `exit code ${status.code}` : status.signal;
}

/** Starts children and answers for them: none outlives this process. */
export class ChildKeeper {
  /** Children that are given it in RUN_MARK take all their descendants along in the end, whatever group these are in. */
  readonly runId = randomBytes(12).toString("hex");
  readonly #guard: ChildProcess;

  constructor() {
    // Beside this file, or beside the bundle that holds it.
    const own = fileURLToPath(import.meta.url);
    const script = join(dirname(own), `guard${extname(own)}`);
    // A group of its own: Ctrl+C in the terminal must not reach it.
    this.#guard = spawn(process.execPath, [script, this.runId], {
      detached: true,
      stdio: ["pipe", "ignore", "inherit"],
    });
    this.#guard.unref();
    if (this.#guard.stdin instanceof Socket) this.#guard.stdin.unref();
    // A guard that was killed can't be told anything; the children are then only as safe as without one.
    this.#guard.stdin?.on("error", () => undefined);
  }

  #tellGuard(line: string): void {
    this.#guard.stdin?.write(`${line}\n`);
  }

  /** @throws {Error} If the program can't be started. */
  async start(options: ChildOptions): Promise<Child> {
    const { logFile, leavesOut } = options;
    const log = logFile === undefined ? "inherit" : openLog(logFile);
    const sifted = logFile === undefined || leavesOut === undefined ? undefined : { logFile, leavesOut };
    const piped = sifted === undefined ? log : "pipe";
    const child = spawn(options.command, options.args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: [
        "ignore",
        piped,
        options.remembersStderr === true && log === "inherit" ? "pipe" : piped,
        ...(options.secret === undefined ? [] : ["pipe" as const]),
      ],
    });
    const handed = child.stdio[3];
    // One that died already does not read it.
    if (handed instanceof Socket) handed.on("error", () => undefined).end(options.secret ?? "");
    if (typeof log === "number") closeSync(log);
    let stderrEnd = "";
    if (sifted !== undefined) {
      for (const stream of [child.stdout, child.stderr]) if (stream !== null) logOthers(stream, sifted);
    } else {
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        process.stderr.write(text);
        stderrEnd = (stderrEnd + text).slice(-STDERR_REMEMBERED);
      });
    }
    const stderrClosed = child.stderr === null ? undefined : once(child.stderr, "close");
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new Error(`Cannot start ${options.name}: ${error.message}`)));
    });
    const { pid } = child;
    if (pid === undefined) throw new Error(`Cannot start ${options.name}: no process id`);
    this.#tellGuard(`+${pid}`);

    const exited = new Promise<ExitStatus>((resolve) => {
      child.once("exit", async (code, signal) => {
        // Its last words can still be on their way. A process that inherited its stderr may keep that open: not waited for.
        if (stderrClosed !== undefined)
          await Promise.race([stderrClosed, delay(STDERR_GRACE_MS, undefined, { ref: false })]);
        if (child.stderr instanceof Socket) child.stderr.unref();
        resolve(signal === null ? { code: code ?? 0 } : { signal });
      });
    });
    const stop = async (graceMs: number): Promise<void> => {
      if (graceMs > 0 && signalGroup(pid, "SIGTERM")) {
        const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
        await exited;
        clearTimeout(timer);
      }
      // The first process may have left others of its group behind, also when it died by itself.
      signalGroup(pid, "SIGKILL");
      await exited;
      this.#tellGuard(`-${pid}`);
    };
    return {
      name: options.name,
      pid,
      logFile: options.logFile,
      exited,
      get hasExited() {
        return child.exitCode !== null || child.signalCode !== null;
      },
      lastLines: (count) => lastOf(options.logFile === undefined ? stderrEnd : readLog(options.logFile), count),
      stop,
      release: () => {
        this.#tellGuard(`-${pid}`);
        child.unref();
      },
    };
  }

  /** Ends the processes with the mark of this run, and lets the guard go, which ends all others that were not stopped before. */
  close(): void {
    killMarked(this.runId);
    this.#guard.stdin?.end();
  }
}

/** False if no process is left to signal. */
function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: macOS says it of a group whose last member has ended and not been waited for.
    if (isErrorCode(error, "ESRCH") || isErrorCode(error, "EPERM")) return false;
    throw error;
  }
}

function openLog(file: string): number {
  makePrivateDirectory(dirname(file));
  if (existsSync(file)) renameSync(file, `${file}.old`);
  return openSync(file, "w", 0o600);
}

/** Appends the lines of `stream` to `logFile`, but for those that `leavesOut` matches. */
function logOthers(stream: Readable, { logFile, leavesOut }: { logFile: string; leavesOut: RegExp }): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
    if (leavesOut.test(line)) return;
    try {
      appendFileSync(logFile, `${line}\n`);
      if (statSync(logFile).size > MOST_LOG_BYTES) closeSync(openLog(logFile));
    } catch {
      // A full disk: what matters goes on.
    }
  });
}

function readLog(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) return `(no ${basename(file)})`;
    throw error;
  }
}

function lastOf(text: string, count: number): string {
  return text.trimEnd().split("\n").slice(-count).join("\n");
}
