// One server of the local run, which may be killed and started again in the same place. Knows how servers come up and
// go down, not what they do.
import { closeSync, openSync, readSync, watch } from "node:fs";
import type { Wish } from "../base/ask.ts";
import { type Child, type ChildKeeper, type ChildOptions, describeExit } from "./children.ts";
import { waitUntilReady } from "./ready.ts";

export interface ServerOptions extends ChildOptions {
  readonly logFile: string;
  /** Answers 200 once the server is up. */
  readonly healthUrl: string;
  readonly healthWay?: Pick<Wish, "headers" | "socketPath">;
  /** How long it may take until then, in milliseconds. */
  readonly readyWithinMs: number;
  /** A line of the log that means that it is dead although its process lives. */
  readonly fatalLine?: RegExp;
  /** How long it may take to stop after SIGTERM, in milliseconds. */
  readonly graceMs: number;
}

export class Server {
  readonly #keeper: ChildKeeper;
  readonly #options: ServerOptions;
  readonly #onDeath: (message: string) => void;
  /** Set from the moment that a start was asked for, so that a stop never overtakes it. */
  #spawned: Promise<Child> | undefined;
  #pid: number | undefined;
  #ends = 0;

  /** `onDeath` is told, once per start, when the server ends without having been told to. */
  constructor(keeper: ChildKeeper, options: ServerOptions, onDeath: (message: string) => void) {
    this.#keeper = keeper;
    this.#options = options;
    this.#onDeath = onDeath;
  }

  /** The id of the process and of its group. @throws {Error} While it is not running. */
  get pid(): number {
    if (this.#pid === undefined) throw new Error(`The ${this.#options.name} is not running`);
    return this.#pid;
  }

  get logFile(): string {
    return this.#options.logFile;
  }

  /** Starts it and waits until it answers. @throws {NotReadyError} If it doesn't; then nothing of it is left. */
  async start(): Promise<void> {
    if (this.#spawned !== undefined) throw new Error(`The ${this.#options.name} is already running`);
    const spawned = this.#keeper.start(this.#options);
    this.#spawned = spawned;
    try {
      const child = await spawned;
      this.#pid = child.pid;
      this.#watch(child, spawned);
      const { healthUrl, healthWay, readyWithinMs } = this.#options;
      await waitUntilReady(child, healthUrl, readyWithinMs, healthWay);
    } catch (error) {
      if (this.#spawned === spawned) await this.kill();
      throw error;
    }
  }

  #watch(child: Child, spawned: Promise<Child>): void {
    const { fatalLine, logFile } = this.#options;
    const report = (what: string): void => {
      endWatch();
      if (this.#spawned !== spawned) return;
      this.#onDeath(`The ${child.name} ${what}. Its log, ${logFile}, ends:\n${child.lastLines(20)}`);
    };

    const endWatch =
      fatalLine === undefined ? () => undefined : watchLog(logFile, fatalLine, () => report("has crashed"));
    child.exited.then((status) => report(`has ended (${describeExit(status)})`));
  }

  /** SIGTERM, and SIGKILL where that is not enough. Resolves at once where it is not running. */
  stop(): Promise<void> {
    return this.#end(this.#options.graceMs);
  }

  /** SIGKILL, as a crash would end it. */
  kill(): Promise<void> {
    return this.#end(0);
  }

  /** Lets it outlive this process: from now on it counts as not running. */
  async release(): Promise<void> {
    const spawned = this.#spawned;
    this.#spawned = undefined;
    (await spawned)?.release();
  }

  async #end(graceMs: number): Promise<void> {
    const spawned = this.#spawned;
    this.#spawned = undefined;
    this.#pid = undefined;
    this.#ends += 1;
    // One that could not be spawned has told its starter why; here it is just not running.
    const child = await spawned?.catch(() => undefined);
    await child?.stop(graceMs);
  }

  /** Kills it and starts it again: same port, same settings, same files. Leaves it down where it is told to end meanwhile. */
  async restart(): Promise<void> {
    const killed = this.kill();
    const ends = this.#ends;
    await killed;
    if (this.#ends !== ends) return;
    await this.start();
  }
}

/**
 * Calls `onMatch` once, when a complete line that `pattern` matches has been appended to `file` since now.
 *
 * @returns Ends the watching.
 */
export function watchLog(file: string, pattern: RegExp, onMatch: (line: string) => void): () => void {
  const descriptor = openSync(file, "r");
  const chunk = Buffer.alloc(64 * 1024);
  let position: number | null = 0;
  let partial = "";

  const readOn = (): void => {
    for (;;) {
      if (position === null) return;
      const length = readSync(descriptor, chunk, 0, chunk.length, position);
      if (length === 0) return;
      position += length;
      // latin1: bytes in, bytes out, and the patterns are ASCII; a character cut in two does no harm.
      const lines = (partial + chunk.toString("latin1", 0, length)).split("\n");
      partial = lines.pop() ?? "";
      const match = lines.find((line) => pattern.test(line));
      if (match === undefined) continue;
      end();
      onMatch(match);
    }
  };
  const watcher = watch(file, { persistent: false }, readOn);
  const end = (): void => {
    if (position === null) return;
    position = null;
    watcher.close();
    closeSync(descriptor);
  };
  readOn();
  return end;
}
