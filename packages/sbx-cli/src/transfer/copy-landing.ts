// The local destination of a copy: files land in our staging folder `.NAME.sbx-cp`, and get their names when the copy is complete.
// Like cp, an existing file is written into and keeps mode, owner and links. Symlinks are not followed, except one that TO names.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { KEPT_MODE } from "sandbox-stdio/core";
import { codeOf } from "../base/errors.ts";
import { CliError } from "../base/outcome.ts";
import type { SkippedFiles } from "./copy-left-out.ts";
import { type Listing, listFolder } from "./copy-listing.ts";
import { bytesOfPath, OWNERS_ALL, pathOf } from "./copy-path.ts";

/** Most bytes of the target's name used in the staging folder's name; file systems allow 255. */
const MAX_NAME_BYTES = 200;
const CHUNK_BYTES = 1_048_576;
const HOLE_BYTES = 4_096;
const STAT_BLOCK_BYTES = 512;
const { O_NOFOLLOW, O_RDONLY, O_WRONLY } = fs.constants;
const SYMLINK_IN_THE_WAY = "a symlink is in the way";

type LandingOptions = {
  /** As typed. */
  readonly to: string;
  /** Names at the archive's root. */
  readonly names: readonly string[];
  /** Whether TO is a folder to copy into. */
  readonly isInto: boolean;
  readonly isResumed: boolean;
  readonly keepsModes: boolean;
  readonly skipped: SkippedFiles;
};

export class Landing {
  readonly #options: LandingOptions;
  readonly #target: string;
  /** TO as it exists, unless it is a folder to copy into. */
  readonly #existing: fs.Stats | undefined;
  /** The staging folder on the target's file system. Absent for a device, or a file in a folder without write permission. */
  readonly #beside: string | undefined;
  #stage: string | undefined;

  /** @throws {CliError} If nothing can be written there. */
  constructor(options: LandingOptions) {
    const { to, names, isInto } = options;
    this.#options = options;
    const typed = path.resolve(to);
    this.#existing = isInto ? undefined : fs.statSync(typed, { throwIfNoEntry: false });
    const isLink = !isInto && fs.lstatSync(typed, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (isLink && this.#existing === undefined) throw new CliError(`cannot copy to ${to}: it is a broken symlink`);
    this.#target = pathOf(isLink ? fs.realpathSync(typed) : typed);
    const folder = isInto ? typed : path.dirname(typed);
    const name = pathOf(isInto ? (names[0] ?? "") : path.basename(typed)).slice(0, MAX_NAME_BYTES);
    const isBeside = this.#existing === undefined || (this.#existing.isFile() && isWritable(folder));
    this.#beside = isBeside ? `${pathOf(folder)}/.${name}.sbx-cp` : undefined;
    if (isBeside && options.isResumed && isOwnFolder(this.#beside)) this.#stage = this.#beside;
  }

  /** Files that an earlier copy has completed or staged. */
  had(): Listing {
    const { names, isInto } = this.#options;
    const folders = [...(isInto ? [this.#target] : []), ...(this.#stage === undefined ? [] : [this.#stage])];
    return new Map(folders.flatMap((folder) => names.flatMap((name) => [...listFolder(folder, pathOf(name))])));
  }

  /** Creates the staging folder and its parents: empty, unless the copy is resumed. */
  open(): string {
    if (this.#stage !== undefined) return this.#stage;
    const folder = this.#beside;
    if (folder === undefined) {
      this.#stage = pathOf(fs.mkdtempSync(path.join(os.tmpdir(), "sbx-cp-")));
      return this.#stage;
    }
    fs.mkdirSync(bytesOfPath(path.posix.dirname(folder)), { recursive: true });
    // Removes whatever has the name; of a symlink, only itself.
    removeTree(folder);
    fs.mkdirSync(bytesOfPath(folder), OWNERS_ALL);
    this.#stage = folder;
    return folder;
  }

  /** Moves staged files into place, and removes the staging folder. */
  async land(): Promise<void> {
    const stage = this.#stage;
    if (stage === undefined) return;
    const { names, isInto } = this.#options;
    const [name = ""] = names.map(pathOf);
    if (isInto) {
      const found = names.includes(".") ? childrenOf(stage) : names.map(pathOf);
      for (const each of found) this.#merge(`${stage}/${each}`, `${this.#target}/${each}`, each);
    } else if (this.#existing !== undefined && !this.#existing.isFile() && statsOf(`${stage}/${name}`)?.isFile()) {
      const from = fs.createReadStream(bytesOfPath(`${stage}/${name}`));
      await pipeline(from, fs.createWriteStream(bytesOfPath(this.#target)));
    } else this.#merge(`${stage}/${name}`, this.#target, name);
    removeTree(stage);
  }

  /** Removes a staging folder that a resumed copy would not find. */
  close(): void {
    if (this.#stage !== undefined && this.#stage !== this.#beside) removeTree(this.#stage);
  }

  #merge(from: string, to: string, name: string): void {
    const { skipped, keepsModes } = this.#options;
    const stats = statsOf(from);
    const there = statsOf(to);
    if (stats === undefined) return;
    if (there === undefined) move(from, to, stats);
    else if (stats.isDirectory() && there.isDirectory()) {
      // Files can't be moved out of a folder without write permission.
      if ((stats.mode & OWNERS_ALL) !== OWNERS_ALL) fs.chmodSync(bytesOfPath(from), OWNERS_ALL);
      for (const child of childrenOf(from)) this.#merge(`${from}/${child}`, `${to}/${child}`, `${name}/${child}`);
      if (keepsModes) fs.chmodSync(bytesOfPath(to), stats.mode & KEPT_MODE);
      timed(() => fs.utimesSync(bytesOfPath(to), stats.mtime, stats.mtime));
    } else if (there.isDirectory()) skipped.add(name, "a folder is in the way");
    else if (stats.isSymbolicLink() && (there.isFile() || there.isSymbolicLink())) move(from, to, stats);
    else if (there.isSymbolicLink()) skipped.add(name, SYMLINK_IN_THE_WAY);
    else if (!stats.isFile() || !there.isFile())
      skipped.add(name, `the destination is not a ${stats.isFile() ? "file" : "folder"}`);
    else writeInto(from, to, stats, { keepsModes, there });
  }
}

const statsOf = (at: string) => fs.lstatSync(bytesOfPath(at), { throwIfNoEntry: false });
const childrenOf = (folder: string) => fs.readdirSync(bytesOfPath(folder), { encoding: "latin1" });

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** No symlink, and not another user's, who could change its content. */
function isOwnFolder(at: string | undefined): boolean {
  const stats = at === undefined ? undefined : statsOf(at);
  return stats?.isDirectory() === true && stats.uid === (process.getuid?.() ?? stats.uid);
}

function move(from: string, to: string, stats: fs.Stats): void {
  const [source, target] = [bytesOfPath(from), bytesOfPath(to)];
  try {
    fs.renameSync(source, target);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EXDEV") {
      // A folder below is on another file system.
      const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, errorOnExist: true };
      fs.cpSync(Buffer.from(source).toString(), Buffer.from(target).toString(), options);
      return;
    }
    if (code !== "EACCES" || !stats.isDirectory()) throw error;
    // Only root can move a folder without write permission.
    fs.chmodSync(source, stats.mode | OWNERS_ALL);
    fs.renameSync(source, target);
    fs.chmodSync(target, stats.mode & KEPT_MODE);
  }
}

type Existing = { readonly keepsModes: boolean; readonly there: fs.Stats };

/** Copies the bytes and time of one file into another, with its holes. */
function writeInto(from: string, to: string, stats: fs.Stats, { keepsModes, there }: Existing): void {
  const source = fs.openSync(bytesOfPath(from), O_RDONLY | O_NOFOLLOW);
  try {
    const target = openExisting(to, there);
    try {
      const isSparse = stats.blocks * STAT_BLOCK_BYTES < stats.size;
      // Otherwise truncated only at the end: file systems flush a file that was emptied at once.
      if (isSparse) fs.ftruncateSync(target, 0);
      copyBytes(source, target, isSparse);
      fs.ftruncateSync(target, stats.size);
      if (keepsModes) fs.fchmodSync(target, stats.mode & KEPT_MODE);
      timed(() => fs.futimesSync(target, stats.mtime, stats.mtime));
    } finally {
      fs.closeSync(target);
    }
  } finally {
    fs.closeSync(source);
  }
}

/** Also opens our own read-only file, such as git's. */
function openExisting(to: string, there: fs.Stats): number {
  try {
    return fs.openSync(bytesOfPath(to), O_WRONLY | O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) !== "EACCES" || there.uid !== process.getuid?.()) throw error;
  }
  fs.chmodSync(bytesOfPath(to), there.mode | 0o200);
  const target = fs.openSync(bytesOfPath(to), O_WRONLY | O_NOFOLLOW);
  fs.fchmodSync(target, there.mode);
  return target;
}

function copyBytes(source: number, target: number, isSparse: boolean): void {
  // Shared by all files: allocating takes longer than copying a small file.
  chunk ??= Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; ; ) {
    const length = fs.readSync(source, chunk, 0, CHUNK_BYTES, at);
    if (length === 0) return;
    for (let done = 0; done < length; ) {
      const part = chunk.subarray(done, isSparse ? Math.min(length, done + HOLE_BYTES) : length);
      const isHole = isSparse && part.equals(NOTHING.subarray(0, part.length));
      done += isHole ? part.length : fs.writeSync(target, part, 0, part.length, at + done);
    }
    at += length;
  }
}

let chunk: Buffer | undefined;
const NOTHING = Buffer.alloc(HOLE_BYTES);

/** Ignores that another user's file keeps its time, as cp does. */
function timed(set: () => void): void {
  try {
    set();
  } catch (error) {
    if (codeOf(error) !== "EPERM") throw error;
  }
}

function removeTree(at: string): void {
  const remove = () => fs.rmSync(bytesOfPath(at), { recursive: true, force: true });
  try {
    remove();
  } catch (error) {
    if (codeOf(error) !== "EACCES") throw error;
    openUp(at);
    remove();
  }
}

/** Adds the write permission that removing a folder's content needs. */
function openUp(at: string): void {
  if (statsOf(at)?.isDirectory() !== true) return;
  fs.chmodSync(bytesOfPath(at), OWNERS_ALL);
  for (const child of childrenOf(at)) openUp(`${at}/${child}`);
}
