// The place of a client in its session, kept in a file, so that a later run of the command line goes on exactly there.

import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRecord } from "sandbox-stdio/core";
import { drafterOf, removeDraft, writeDraft } from "../base/draft.ts";
import { type FileOwner, isGone, isRunning, thisRun } from "../base/file-owner.ts";
import { CliError, EXIT } from "../base/outcome.ts";

/** Where standard output stood, if it is a regular file: output that a crashed run wrote beyond it can then be recognised. */
export type OutputPlace = { readonly dev: number; readonly ino: number; readonly size: number };

export type Place = {
  readonly url: string;
  readonly sandbox: string;
  readonly session: string;
  /** From the session's greeting; absent before the first. */
  readonly incarnation?: string;
  readonly resume?: string;
  /** By which the process is started over HTTP. Until a greeting, a later run says it again: the same start finds the same process. */
  readonly attempt?: string;
  /** Output before this has been written. */
  readonly offset: number;
  readonly stdout?: OutputPlace;
  /** The kind of the input: a pipe or a file gives the same bytes again, a person does not. Absent before the first greeting. */
  readonly input?: InputKind;
  /** Data has gone missing, in this run or one before: that the process ends with 0 is no success. */
  readonly isIncomplete?: true;
  /** The run that wrote it: while that one goes on, the place is no other's. */
  readonly owner?: FileOwner;
};

export type InputKind = "piped" | "typed";

const VERSION = 1;
/** How often the file is written while output flows. After a crash a run repeats the output since, unless it can be recognised. */
const INTERVAL_MS = 200;
/**
 * … and after so much output at the latest. The session holds 1 MiB of output, and lets go of the oldest when what is newer
 * has been acknowledged and more has come: half of it is in flight at most, so a place that is much less than the other half
 * behind can still be asked for.
 */
const MAX_BEHIND_BYTES = 64 * 1024;

export class ResumeFile {
  readonly #path: string;
  #place: () => Place | undefined;
  #onFault: ((message: string) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRemoved = false;
  #savedOffset = 0;
  #isClaimed = false;
  readonly #owner = thisRun();
  /** The place that was read; undefined if there was none. */
  #earlier: Place | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#place = () => undefined;
  }

  /** The place that an earlier run left. @throws {CliError} If the file is there and is not one of these, or is in use. */
  read(): Place | undefined {
    let text: string;
    try {
      // Another kind of file would be waited for, has no end, or can't be renamed over.
      if (!fs.statSync(this.#path).isFile())
        throw new CliError(`--resume-file ${this.#path} is no regular file`, EXIT.usage);
      text = fs.readFileSync(this.#path, "utf8");
    } catch (error) {
      if (error instanceof CliError) throw error;
      if (isCode(error, "ENOENT")) return undefined;
      throw new CliError(`cannot read ${this.#path}: ${phraseOf(error)}`);
    }
    const place = parsePlace(text);
    if (place === undefined) {
      throw new CliError(`${this.#path} is not a file that --resume-file wrote`, EXIT.usage);
    }
    if (place.owner !== undefined && isRunning(place.owner)) {
      throw new CliError(`${this.#path} is in use: process ${place.owner.pid} goes on from it`);
    }
    this.#earlier = place;
    return place;
  }

  /**
   * @param place Asked whenever the file is written.
   * @param onFault The file can't be written any more: told once.
   * @throws {CliError} If it can't be written at all.
   */
  keep(place: () => Place, onFault: (message: string) => void): void {
    this.#place = place;
    this.#write(this.#earlier === undefined && !this.#isClaimed);
    this.#isClaimed = true;
    this.#onFault = onFault;
    this.#removeDrafts();
  }

  /** The place has moved to this offset: it is written soon, or now. */
  moved(offset: number): void {
    if (offset - this.#savedOffset >= MAX_BEHIND_BYTES) {
      this.save();
      return;
    }
    if (this.#timer !== undefined || this.#isRemoved) return;
    this.#timer = setTimeout(() => this.save(), INTERVAL_MS);
    this.#timer.unref();
  }

  /** Writes it now, whole or not at all. */
  save(): void {
    try {
      this.#write();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      this.#onFault?.(error.message);
      this.#onFault = undefined;
    }
  }

  /** There is nothing left to go on with. */
  remove(): void {
    clearTimeout(this.#timer);
    this.#isRemoved = true;
    fs.rmSync(this.#path, { force: true });
  }

  /** Runs that were killed in the middle of writing it, or before there was one, have left their drafts. */
  #removeDrafts(): void {
    const [directory, file] = [dirname(this.#path), basename(this.#path)];
    try {
      for (const name of fs.readdirSync(directory)) {
        const pid = drafterOf(file, name);
        if (pid === undefined || !(pid === this.#earlier?.owner?.pid || isGone(pid))) continue;
        removeDraft(join(directory, name));
      }
    } catch {
      // A directory that may be written to and not be listed: they stay.
    }
  }

  /** @param isFirst There was no file: one that is there now is another run's. */
  #write(isFirst = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const place = this.#place();
    if (place === undefined || this.#isRemoved) return;
    // Even where it can't be written: not tried again for each byte.
    this.#savedOffset = place.offset;
    let next: string | undefined;
    try {
      next = writeDraft(this.#path, `${JSON.stringify({ version: VERSION, ...place, owner: this.#owner })}\n`);
      if (isFirst) this.#claim(next);
      else fs.renameSync(next, this.#path);
    } catch (error) {
      if (next !== undefined) removeDraft(next);
      if (isCode(error, "EEXIST")) throw new CliError(`${this.#path} is in use: another run has just begun with it`);
      throw new CliError(`cannot write ${this.#path}: ${phraseOf(error)}`);
    }
  }

  /** Gives the draft its name. @throws Where another run that was started at the same time was first. */
  #claim(next: string): void {
    try {
      fs.linkSync(next, this.#path);
    } catch (error) {
      if (isCode(error, "EEXIST")) throw error;
      // A file system without hard links.
      fs.renameSync(next, this.#path);
      return;
    }
    fs.unlinkSync(next);
  }
}

export function parsePlace(text: string): Place | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not ours, then.
    return undefined;
  }
  if (!isRecord(value) || value.version !== VERSION) return undefined;
  const { url, sandbox, session, incarnation, resume, attempt, offset, stdout, input, isIncomplete, owner } = value;
  if (typeof url !== "string" || typeof sandbox !== "string" || typeof session !== "string") return undefined;
  if (!isCount(offset)) return undefined;
  return {
    url,
    sandbox,
    session,
    offset,
    ...(typeof incarnation === "string" ? { incarnation } : {}),
    ...(typeof resume === "string" ? { resume } : {}),
    ...(typeof attempt === "string" ? { attempt } : {}),
    ...(isOutputPlace(stdout) ? { stdout } : {}),
    ...(input === "piped" || input === "typed" ? { input } : {}),
    ...(isIncomplete === true ? { isIncomplete } : {}),
    ...(isOwner(owner) ? { owner } : {}),
  };
}

function isOwner(value: unknown): value is FileOwner {
  return (
    isRecord(value) && isCount(value.pid) && (value.startedAt === undefined || typeof value.startedAt === "string")
  );
}

function isOutputPlace(value: unknown): value is OutputPlace {
  return isRecord(value) && isCount(value.dev) && isCount(value.ino) && isCount(value.size);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function phraseOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
