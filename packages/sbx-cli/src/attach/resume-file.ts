// A client's position in its session, kept in a file so that a later run continues there.

import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { defined, isRecord } from "sandbox-stdio/core";
import { drafterOf, removeDraft, writeDraft } from "../base/draft.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import { type FileOwner, isGone, isRunning, thisRun } from "../base/file-owner.ts";
import { CliError, EXIT } from "../base/outcome.ts";

/** The length of standard output, if it is a regular file: tells what a killed run wrote beyond its saved position. */
export type OutputPosition = { readonly dev: number; readonly ino: number; readonly size: number };

export type ResumePosition = {
  readonly url: string;
  readonly sandbox: string;
  readonly session: string;
  /** From the session's greeting; absent before the first. */
  readonly incarnation?: string;
  readonly resume?: string;
  /** Id of a start over HTTP: repeating it before the first greeting finds the same process. */
  readonly attempt?: string;
  /** Output before this has been written. */
  readonly offset: number;
  readonly stdout?: OutputPosition;
  /** A pipe or file repeats its bytes in a later run, a person does not. Absent before the first greeting. */
  readonly input?: InputKind;
  /** Data was lost, in this run or an earlier one: exit code 0 is then no success. */
  readonly isIncomplete?: boolean;
  /** The run that wrote the file. Others can't use it while that run goes on. */
  readonly owner?: FileOwner;
};

export type InputKind = "piped" | "typed";

const VERSION = 1;
/** Interval of writes while output flows. After a crash, output since the last write is repeated unless it can be recognized. */
const INTERVAL_MS = 200;
/** Bytes after which the file is written at the latest. The session holds 1 MiB, so a position 64 KiB behind is still available. */
const MAX_BEHIND_BYTES = 64 * 1024;

export class ResumeFile {
  readonly #path: string;
  #position: () => ResumePosition | undefined;
  #onFault: ((message: string) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRemoved = false;
  #savedOffset = 0;
  #isClaimed = false;
  readonly #owner = thisRun();
  /** The position that was read; undefined if there was none. */
  #earlier: ResumePosition | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#position = () => undefined;
  }

  /** The position that an earlier run saved. @throws {CliError} If the file is invalid or in use. */
  read(): ResumePosition | undefined {
    let text: string;
    try {
      // Reading a pipe or device would block or never end.
      if (!fs.statSync(this.#path).isFile())
        throw new CliError(`--resume-file ${this.#path} is not a regular file`, EXIT.usage);
      text = fs.readFileSync(this.#path, "utf8");
    } catch (error) {
      if (error instanceof CliError) throw error;
      if (codeOf(error) === "ENOENT") return undefined;
      throw new CliError(`cannot read ${this.#path}: ${messageOf(error)}`);
    }
    const position = parsePosition(text);
    if (position === undefined) {
      throw new CliError(`${this.#path} is not a file that --resume-file wrote`, EXIT.usage);
    }
    if (position.owner !== undefined && isRunning(position.owner)) {
      throw new CliError(`${this.#path} is in use by process ${position.owner.pid}`);
    }
    this.#earlier = position;
    return position;
  }

  /**
   * Writes the file now, and later by {@link moved} and {@link save}.
   * @param position Called at each write. @param onFault Called once if a later write fails.
   * @throws {CliError} If the first write fails.
   */
  keep(position: () => ResumePosition, onFault: (message: string) => void): void {
    this.#position = position;
    this.#write(this.#earlier === undefined && !this.#isClaimed);
    this.#isClaimed = true;
    this.#onFault = onFault;
    this.#removeDrafts();
  }

  /** Schedules a write, or writes now if the saved position is far behind. */
  moved(offset: number): void {
    if (offset - this.#savedOffset >= MAX_BEHIND_BYTES) {
      this.save();
      return;
    }
    if (this.#timer !== undefined || this.#isRemoved) return;
    this.#timer = setTimeout(() => this.save(), INTERVAL_MS);
    this.#timer.unref();
  }

  /** Writes the file atomically. */
  save(): void {
    try {
      this.#write();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      this.#onFault?.(error.message);
      this.#onFault = undefined;
    }
  }

  /** Deletes the file: there is nothing to resume. */
  remove(): void {
    clearTimeout(this.#timer);
    this.#isRemoved = true;
    fs.rmSync(this.#path, { force: true });
  }

  /** Removes drafts of runs that were killed while writing. */
  #removeDrafts(): void {
    const [directory, file] = [dirname(this.#path), basename(this.#path)];
    try {
      for (const name of fs.readdirSync(directory)) {
        const pid = drafterOf(file, name);
        if (pid === undefined || !(pid === this.#earlier?.owner?.pid || isGone(pid))) continue;
        removeDraft(join(directory, name));
      }
    } catch {
      // The directory can be written but not listed: the drafts stay.
    }
  }

  /** @param isFirst Whether no file existed before: one that exists now is another run's. */
  #write(isFirst = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const position = this.#position();
    if (position === undefined || this.#isRemoved) return;
    // Even if the write fails: don't retry for each byte.
    this.#savedOffset = position.offset;
    let next: string | undefined;
    try {
      next = writeDraft(this.#path, `${JSON.stringify({ version: VERSION, ...position, owner: this.#owner })}\n`);
      if (isFirst) this.#claim(next);
      else fs.renameSync(next, this.#path);
    } catch (error) {
      if (next !== undefined) removeDraft(next);
      if (codeOf(error) === "EEXIST") throw new CliError(`${this.#path} is in use by another run`);
      throw new CliError(`cannot write ${this.#path}: ${messageOf(error)}`);
    }
  }

  /** Renames the draft unless the file exists by now. @throws If another run was first. */
  #claim(next: string): void {
    try {
      fs.linkSync(next, this.#path);
    } catch (error) {
      if (codeOf(error) === "EEXIST") throw error;
      // The file system has no hard links.
      fs.renameSync(next, this.#path);
      return;
    }
    fs.unlinkSync(next);
  }
}

export function parsePosition(text: string): ResumePosition | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value.version !== VERSION) return undefined;
  const { url, sandbox, session, incarnation, resume, attempt, offset, stdout, input, isIncomplete, owner } = value;
  if (typeof url !== "string" || typeof sandbox !== "string" || typeof session !== "string") return undefined;
  if (!isCount(offset)) return undefined;
  return {
    ...{ url, sandbox, session, offset },
    ...defined({
      incarnation: typeof incarnation === "string" ? incarnation : undefined,
      resume: typeof resume === "string" ? resume : undefined,
      attempt: typeof attempt === "string" ? attempt : undefined,
      stdout: isOutputPosition(stdout) ? stdout : undefined,
      input: isInputKind(input) ? input : undefined,
      isIncomplete: isIncomplete === true || undefined,
      owner: isOwner(owner) ? owner : undefined,
    }),
  };
}

const isInputKind = (value: unknown): value is InputKind => value === "piped" || value === "typed";

function isOwner(value: unknown): value is FileOwner {
  return (
    isRecord(value) && isCount(value.pid) && (value.startedAt === undefined || typeof value.startedAt === "string")
  );
}

function isOutputPosition(value: unknown): value is OutputPosition {
  return isRecord(value) && isCount(value.dev) && isCount(value.ino) && isCount(value.size);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
