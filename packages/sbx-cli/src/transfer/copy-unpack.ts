// Writes an archive from the sandbox into a folder of our own. The sandbox chooses every byte of it: nothing is written outside of that folder
// or through a link, and no link is made that leads out of what was asked for. Paths are bytes, one a character.

import fs from "node:fs";
import { KEPT_MODE, leadsTo, partsOf, type TarMember, type TarSink } from "sandbox-stdio/core";
import type { LeftOut } from "./copy-left-out.ts";
import { bytesOfPath, OWNERS_ALL } from "./copy-path.ts";

export type UnpackOptions = {
  /** The folder, empty or what an earlier run has left there. */
  readonly stage: string;
  /** What was asked for, at the archive's root; undefined: all. */
  readonly asked: readonly string[] | undefined;
  /** Whether what was asked for gets another name: then a link to that name leads out. */
  readonly isRenamed: boolean;
  readonly keepsModes: boolean;
  readonly leftOut: LeftOut;
};

type Folder = { readonly path: string; readonly mode: number; readonly modifiedAt: number };

export class Unpacking implements TarSink {
  readonly #options: UnpackOptions;
  readonly #seen = new Set<string>();
  readonly #umask = process.umask();
  /** Folders that are being filled, the outermost first: each gets its mode and its time when it is left. */
  #open: Folder[] = [];
  /** The folder that was looked at last: it and all above it are folders of the stage. */
  #looked: readonly string[] = [];
  #file: { readonly fd: number; readonly member: TarMember } | undefined;

  constructor(options: UnpackOptions) {
    this.#options = options;
  }

  /** Of what was asked for, whatever the archive has brought. */
  get seen(): ReadonlySet<string> {
    return this.#seen;
  }

  member(member: TarMember): void {
    const parts = partsOf(member.name);
    // What was not asked for is passed over.
    if (parts !== undefined && (parts.length === 0 || !this.#isAsked(parts))) return;
    this.#seen.add(parts?.[0] ?? "");
    const why = parts === undefined ? "the name leads out of the folder" : this.#tryMember(member, parts);
    if (why !== undefined) this.#options.leftOut.add(member.name, why);
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
    // A hole at the end has no bytes.
    if (stats.size !== member.size) fs.ftruncateSync(fd, member.size);
    const mode = this.#modeOf(member);
    if ((stats.mode & KEPT_MODE) !== mode) fs.fchmodSync(fd, mode);
    fs.futimesSync(fd, member.modifiedAt, member.modifiedAt);
    fs.closeSync(fd);
  }

  /** To be called at the end, whatever it is. */
  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file.fd);
    this.#file = undefined;
    this.#leaveFolders("");
  }

  /** @returns Why it can't be written, if it can't. */
  #tryMember(member: TarMember, parts: readonly string[]): string | undefined {
    try {
      const blocker = this.#enter(parts.slice(0, -1));
      if (blocker !== undefined) return `${blocker} is no folder`;
      return this.#write(member, parts);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EISDIR" || code === "EPERM")
        return isFolder(this.#pathOf(parts)) ? "a folder has this name" : "the file system here refuses it";
      if (code === "ENAMETOOLONG" || code === "EILSEQ" || code === "EINVAL") return `no name here (${code})`;
      throw error;
    }
  }

  #write(member: TarMember, parts: readonly string[]): string | undefined {
    const path = this.#pathOf(parts);
    switch (member.kind) {
      case "file":
        // Later copies find by its time that it is not whole. It can be written to until it is.
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
        if (member.target === "") return "it leads nowhere";
        if (!this.#staysInside(parts, member.target)) return LEADS_OUT;
        fresh(path, () => fs.symlinkSync(bytesOfPath(member.target), bytesOfPath(path)));
        fs.lutimesSync(bytesOfPath(path), member.modifiedAt, member.modifiedAt);
        return undefined;
      case "hard link":
        return this.#hardLink(path, member.target);
      case "other":
        return "it is no file, no folder and no link";
    }
  }

  #hardLink(path: string, target: string): string | undefined {
    const parts = partsOf(target);
    if (parts === undefined || !this.#isAsked(parts)) return LEADS_OUT;
    const from = this.#pathOf(parts);
    if (from === path) return undefined;
    // Each folder above it as well: what an earlier archive has left may be a link.
    const above = parts.slice(0, -1).map((_, index) => this.#pathOf(parts.slice(0, index + 1)));
    const isThere = above.every(isFolder) && fs.lstatSync(bytesOfPath(from), { throwIfNoEntry: false })?.isFile();
    if (isThere !== true) return "the file that it is another name of is not in the archive";
    fresh(path, () => {
      try {
        fs.linkSync(bytesOfPath(from), bytesOfPath(path));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
        // A file system without hard links, or with too many.
        fs.copyFileSync(bytesOfPath(from), bytesOfPath(path), fs.constants.COPYFILE_EXCL);
      }
    });
    return undefined;
  }

  /** Makes the folders that the archive has left out. @returns What is in the way, if something is. */
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

  /** Those that do not lead to `path`. */
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
    const { asked } = this.#options;
    return asked === undefined || asked.includes(top);
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
const LEADS_OUT = "it leads out of what is copied";

const isFolder = (path: string) => fs.lstatSync(bytesOfPath(path), { throwIfNoEntry: false })?.isDirectory() === true;

/** Makes it new: what had the name, from before or twice in one archive, is removed, and nothing that a link leads to. */
function fresh(path: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    fs.unlinkSync(bytesOfPath(path));
    make();
  }
}
