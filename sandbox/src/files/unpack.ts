// *hydrate* (V4), in a process of the sandbox's user: an archive on standard input, whose maker nobody knows, is unpacked into a fresh
// folder in the workspace and only then merged with what is there. Of an archive that is refused nothing is kept.

import {
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { latin1, leadsTo, partsOf, TarFault, type TarMember, TarReader } from "sandbox-stdio/core";
import { fileErrorOf } from "./file-error.ts";

/** Followed by the folder. */
export const UNPACK_FLAG = "--unpack";
/** How the name of a fresh folder begins. */
export const UNPACKING = ".sbx-hydrate-";

const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_MEMBERS = 100_000;
/** Headers, names and what fills up blocks. */
export const MAX_ARCHIVE_BYTES = MAX_BYTES + 512 * 1024 * 1024;
const READ_BYTES = 256 * 1024;
/** setuid and setgid. */
const FOREIGN_RIGHTS = 0o6000;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** What the bridge is told, as JSON. */
export type Unpacked =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: number; readonly code: string; readonly message: string };

class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** @param read Reads more of the archive. @returns How many bytes, 0 at its end. */
export function unpack(
  folder: string,
  read: (room: Uint8Array) => number = (room) => readSync(0, room),
  maxMembers = MAX_MEMBERS,
): Unpacked {
  const fresh = mkdtempSync(`${folder}/${UNPACKING}`);
  try {
    const unpacking = new Unpacking(fresh, maxMembers);
    unpacking.read(read);
    merge(fresh, folder, true);
    merge(fresh, folder, false);
    return { ok: true };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, status: error.status, code: error.code, message: error.message };
    if (error instanceof TarFault) return { ok: false, status: 400, code: "bad_archive", message: error.message };
    const { code, message } = fileErrorOf(error);
    return { ok: false, status: code === "ENOSPC" ? 507 : 500, code: code.toLowerCase(), message };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

class Unpacking {
  readonly #fresh: string;
  readonly #reader: TarReader;
  /** Paths below the folder. */
  readonly #links = new Set<string>();
  readonly #files = new Set<string>();
  readonly #made = new Set<string>();
  readonly #maxMembers: number;
  #members = 0;
  #bytes = 0;
  /** Of the file whose bytes are coming. */
  #open: { readonly fd: number; readonly member: TarMember } | undefined;

  constructor(fresh: string, maxMembers: number) {
    this.#fresh = fresh;
    this.#maxMembers = maxMembers;
    this.#reader = new TarReader({
      member: (member) => this.#member(member),
      bytes: (bytes, offset) => this.#write(bytes, offset),
      memberEnd: () => this.#close(),
    });
  }

  read(read: (room: Uint8Array) => number): void {
    let total = 0;
    const room = Buffer.alloc(READ_BYTES);
    for (let count = read(room); count > 0; count = read(room)) {
      total += count;
      if (total > MAX_ARCHIVE_BYTES) throw tooMuch();
      this.#reader.push(room.subarray(0, count));
    }
    if (!this.#reader.isWhole) throw new TarFault("the archive breaks off");
  }

  #member(member: TarMember): void {
    const refuse = (why: string) =>
      new Refused(400, "bad_member", `${JSON.stringify(member.name.slice(0, 256))} ${why}`);
    this.#members += 1;
    this.#bytes += member.size;
    if (this.#members > this.#maxMembers || this.#bytes > MAX_BYTES) throw tooMuch();
    const parts = this.#partsOf(member, refuse);
    if (parts.length === 0) return;
    const path = parts.join("/");
    this.#folders(parts.slice(0, -1), refuse);
    if (member.kind === "folder") this.#folder(path, member.mode, refuse);
    else {
      this.#makeWay(path, refuse);
      this.#make(path, member, refuse);
    }
  }

  /** @returns None for the folder itself. @throws {Refused} */
  #partsOf({ name, kind, target, mode }: TarMember, refuse: (why: string) => Refused): readonly string[] {
    if (kind === "other") throw refuse("is neither a file, a folder nor a link");
    if ((mode & FOREIGN_RIGHTS) !== 0) throw refuse("would run with another's rights: setuid or setgid");
    const parts = partsOf(name);
    if (parts === undefined) throw refuse("leads out of the workspace");
    if (parts.length === 0 && kind !== "folder") throw refuse("has no name");
    if (parts.some((_, index) => this.#links.has(parts.slice(0, index).join("/")))) throw refuse("lies below a link");
    if (kind === "link" && (target === "" || leadsTo(parts, target, 0) === undefined))
      throw refuse("is a link that leads out of the workspace");
    return parts;
  }

  #make(path: string, member: TarMember, refuse: (why: string) => Refused): void {
    const { kind, target } = member;
    if (kind === "file") {
      this.#open = { fd: openSync(this.#at(path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), member };
      this.#files.add(path);
    } else if (kind === "link") {
      symlinkSync(Buffer.from(target, "latin1"), this.#at(path));
      this.#links.add(path);
    } else {
      const to = partsOf(target)?.join("/");
      if (to === undefined || !this.#files.has(to))
        throw refuse("is another name of a file that is not in the archive");
      linkSync(this.#at(to), this.#at(path));
      this.#files.add(path);
    }
  }

  #write(bytes: Uint8Array, offset: number): void {
    if (this.#open === undefined) return;
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#open.fd, bytes, done, bytes.length - done, offset + done);
    }
  }

  #close(): void {
    if (this.#open === undefined) return;
    const { fd, member } = this.#open;
    this.#open = undefined;
    fchmodSync(fd, member.mode & 0o777);
    futimesSync(fd, member.modifiedAt, member.modifiedAt);
    closeSync(fd);
  }

  #folders(parts: readonly string[], refuse: (why: string) => Refused): void {
    for (let depth = 1; depth <= parts.length; depth += 1) this.#folder(parts.slice(0, depth).join("/"), 0o755, refuse);
  }

  #folder(path: string, mode: number, refuse: (why: string) => Refused): void {
    if (this.#made.has(path)) return;
    const known = lstatSync(this.#at(path), { throwIfNoEntry: false });
    // Its owner's rights stay: what follows is written into it.
    if (known === undefined) mkdirSync(this.#at(path), { mode: (mode & 0o777) | 0o700 });
    else if (!known.isDirectory()) throw refuse("is a folder in the place of a file");
    this.#made.add(path);
  }

  /** A later member of the same name counts. */
  #makeWay(path: string, refuse: (why: string) => Refused): void {
    const known = lstatSync(this.#at(path), { throwIfNoEntry: false });
    if (known?.isDirectory() === true) throw refuse("stands in the place of a folder");
    if (known !== undefined) unlinkSync(this.#at(path));
    this.#links.delete(path);
    this.#files.delete(path);
  }

  #at(path: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.#fresh}/`), Buffer.from(path, "latin1")]);
  }
}

/** Replaces files and links, and goes into folders that are there. @param isTrial Only looks whether it can. @throws {Refused} */
function merge(from: string | Buffer, into: string | Buffer, isTrial: boolean): void {
  for (const name of readdirSync(from, { encoding: "buffer" })) {
    const [source, target] = [below(from, name), below(into, name)];
    const known = lstatSync(target, { throwIfNoEntry: false });
    const isFolder = lstatSync(source).isDirectory();
    if (known?.isDirectory() === true) {
      if (isFolder) merge(source, target, isTrial);
      else throw new Refused(400, "bad_member", `${JSON.stringify(latin1(name))} stands in the place of a folder`);
      continue;
    }
    if (isTrial) continue;
    // Of a link itself, never of what it leads to.
    if (known !== undefined && isFolder) unlinkSync(target);
    renameSync(source, target);
  }
}

function below(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from("/"), name]);
}

function tooMuch(): Refused {
  return new Refused(413, "too_long", `more than 1 GiB, or than ${MAX_MEMBERS} members`);
}
