// Unpacks an archive from the sandbox into our staging folder. The sandbox chooses every byte: nothing is written outside of the folder
// or through a symlink, and no symlink leads out of what is copied. Paths are latin1 bytes.

import fs from "node:fs";
import { KEPT_MODE, leadsTo, partsOf, type TarMember, type TarSink } from "sandbox-stdio/core";
import { codeOf } from "../base/errors.ts";
import type { SkippedFiles } from "./copy-left-out.ts";
import { bytesOfPath, OWNERS_ALL } from "./copy-path.ts";

export type UnpackOptions = {
  /** The staging folder, empty or from an earlier run. */
  readonly stage: string;
  /** The requested names at the archive's root; undefined: all. */
  readonly requested: readonly string[] | undefined;
  /** Whether the requested file gets another name: then a symlink to its old name leads out. */
  readonly isRenamed: boolean;
  readonly keepsModes: boolean;
  readonly skipped: SkippedFiles;
};

type Folder = { readonly path: string; readonly mode: number; readonly modifiedAt: number };

export class Unpacking implements TarSink {
  readonly #options: UnpackOptions;
  readonly #seen = new Set<string>();
  readonly #umask = process.umask();
  /** Folders being filled, outermost first: each gets its mode and time when it is left. */
  #open: Folder[] = [];
  /** The last checked folder: it and its parents are folders of the staging area. */
  #looked: readonly string[] = [];
  #file: { readonly fd: number; readonly member: TarMember } | undefined;

  constructor(options: UnpackOptions) {
    this.#options = options;
  }

  /** The requested names that the archive contained. */
  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  member(member: TarMember): void {
    const parts = partsOf(member.name);
    // Ignore what was not requested.
    if (parts !== undefined && (parts.length === 0 || !this.#isAsked(parts))) return;
    this.#seen.add(parts?.[0] ?? "");
    const why = parts === undefined ? "the path leaves the folder" : this.#tryMember(member, parts);
    if (why !== undefined) this.#options.skipped.add(member.name, why);
  }

  bytes(bytes: Uint8Array, offset: number): void {
    if (this.#file === undefined) return;
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(this.#file.fd, bytes, done, bytes.length - done, offset + done);
  }

  memberEnd(): void {
    if (this.#file === undefined) return;
    const { fd, member } = this.#file;
    this.#file = undefined;
    const stats = fs.fstatSync(fd);
    // A trailing hole has no bytes.
    if (stats.size !== member.size) fs.ftruncateSync(fd, member.size);
    const mode = this.#modeOf(member);
    if ((stats.mode & KEPT_MODE) !== mode) fs.fchmodSync(fd, mode);
    fs.futimesSync(fd, member.modifiedAt, member.modifiedAt);
    fs.closeSync(fd);
  }

  /** Call at the end, whatever it is. */
  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file.fd);
    this.#file = undefined;
    this.#leaveFolders("");
  }

  /** @returns Why the member is skipped, if it is. */
  #tryMember(member: TarMember, parts: readonly string[]): string | undefined {
    try {
      const blocker = this.#enter(parts.slice(0, -1));
      if (blocker !== undefined) return `${blocker} is not a folder`;
      return this.#write(member, parts);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EISDIR" || code === "EPERM")
        return isFolder(this.#pathOf(parts)) ? "a folder is in the way" : "the file system refuses it";
      if (code === "ENAMETOOLONG" || code === "EILSEQ" || code === "EINVAL") return `invalid name here (${code})`;
      throw error;
    }
  }

  #write(member: TarMember, parts: readonly string[]): string | undefined {
    const path = this.#pathOf(parts);
    switch (member.kind) {
      case "file":
        // A resumed copy sees by its time that it is incomplete. Writable until complete.
        fresh(path, () => {
          const fd = fs.openSync(bytesOfPath(path), CREATE, (member.mode & KEPT_MODE) | 0o200);
          this.#file = { fd, member };
        });
        return undefined;
      case "folder":
        if (isFolder(path)) fs.chmodSync(bytesOfPath(path), this.#modeOf(member) | OWNERS_ALL);
        else fresh(path, () => fs.mkdirSync(bytesOfPath(path), this.#modeOf(member) | OWNERS_ALL));
        this.#open.push({ path, mode: this.#modeOf(member), modifiedAt: member.modifiedAt });
        return undefined;
      case "link":
        if (member.target === "") return "the symlink is empty";
        if (!this.#staysInside(parts, member.target)) return LEADS_OUT;
        fresh(path, () => fs.symlinkSync(bytesOfPath(member.target), bytesOfPath(path)));
        fs.lutimesSync(bytesOfPath(path), member.modifiedAt, member.modifiedAt);
        return undefined;
      case "hard link":
        return this.#hardLink(path, member.target);
      case "other":
        return "not a file, folder or link";
    }
  }

  #hardLink(path: string, target: string): string | undefined {
    const parts = partsOf(target);
    if (parts === undefined || !this.#isAsked(parts)) return LEADS_OUT;
    const from = this.#pathOf(parts);
    if (from === path) return undefined;
    // Its parents must be folders, too: an earlier archive may have left a symlink.
    const above = parts.slice(0, -1).map((_, index) => this.#pathOf(parts.slice(0, index + 1)));
    const isThere = above.every(isFolder) && fs.lstatSync(bytesOfPath(from), { throwIfNoEntry: false })?.isFile();
    if (isThere !== true) return "its hard link target is not in the archive";
    fresh(path, () => {
      try {
        fs.linkSync(bytesOfPath(from), bytesOfPath(path));
      } catch (error) {
        if (codeOf(error) === "EEXIST") throw error;
        // No hard links on this file system, or too many.
        fs.copyFileSync(bytesOfPath(from), bytesOfPath(path), fs.constants.COPYFILE_EXCL);
      }
    });
    return undefined;
  }

  /** Creates folders that the archive omits. @returns What blocks the path, if something does. */
  #enter(parts: readonly string[]): string | undefined {
    const path = this.#pathOf(parts);
    this.#leaveFolders(path);
    if (parts.length === this.#looked.length && parts.every((part, index) => part === this.#looked[index])) return;
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const folder = this.#pathOf(parts.slice(0, depth));
      const stats = fs.lstatSync(bytesOfPath(folder), { throwIfNoEntry: false });
      if (stats === undefined) fs.mkdirSync(bytesOfPath(folder));
      else if (!stats.isDirectory()) return parts.slice(0, depth).join("/");
    }
    this.#looked = parts;
    return undefined;
  }

  /** Leaves folders that don't contain `path`. */
  #leaveFolders(path: string): void {
    for (let last = this.#open.at(-1); last !== undefined; last = this.#open.at(-1)) {
      if (`${path}/`.startsWith(`${last.path}/`)) return;
      this.#open.pop();
      const bytes = bytesOfPath(last.path);
      fs.chmodSync(bytes, last.mode);
      fs.utimesSync(bytes, last.modifiedAt, last.modifiedAt);
    }
  }

  #isAsked([top = ""]: readonly string[]): boolean {
    const { requested } = this.#options;
    return requested === undefined || requested.includes(top);
  }

  #staysInside(parts: readonly string[], target: string): boolean {
    const to = leadsTo(parts, target, this.#options.isRenamed ? 1 : 0);
    return to !== undefined && this.#isAsked(to);
  }

  #modeOf({ mode }: TarMember): number {
    return mode & KEPT_MODE & (this.#options.keepsModes ? KEPT_MODE : ~this.#umask);
  }

  #pathOf(parts: readonly string[]): string {
    return [this.#options.stage, ...parts].join("/");
  }
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
const CREATE = O_WRONLY | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0);
const LEADS_OUT = "its target is not copied";

const isFolder = (path: string) => fs.lstatSync(bytesOfPath(path), { throwIfNoEntry: false })?.isDirectory() === true;

/** Creates something after removing what has the name, without following a symlink. */
function fresh(path: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    fs.unlinkSync(bytesOfPath(path));
    make();
  }
}
