// *hydrate* (V4), in a process of the sandbox's user: unpacks an untrusted archive from standard input into a fresh folder in the
// workspace, and only then merges it with the files there. Nothing of a refused archive is kept.

import {
  closeSync,
  constants,
  fchmodSync,
  ftruncateSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
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
import { makeOwnFolder } from "../base/own-folder.ts";
import { FileError, fileErrorOf } from "./file-error.ts";

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
/** As the kernel has it. */
const MAX_NAME = 4_096;
/** Each is a folder in the one before, and the way through many is long. */
const MAX_PARTS = 256;
/** Mode of a folder that the archive does not list. */
const FOLDER_MODE = 0o755;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** How a failure is told, by its name; others are 500. */
const FAILURES: Readonly<Record<string, readonly [number, string]>> = {
  bad_member: [400, "bad_member"],
  too_long: [413, "too_long"],
  ENAMETOOLONG: [400, "bad_member"],
  ENOSPC: [507, "no_space"],
  EDQUOT: [507, "no_space"],
};

type Refuse = (why: string) => FileError;

/** What the bridge is told, as JSON. */
export type Unpacked =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: number; readonly code: string; readonly message: string };

/** @param read Reads more of the archive. @returns How many bytes, 0 at its end. */
export function unpack(
  folder: string,
  read: (room: Uint8Array) => number = (room) => readSync(0, room),
  maxMembers = MAX_MEMBERS,
): Unpacked {
  const fresh = makeOwnFolder(folder, UNPACKING);
  try {
    new Unpacking(folder, fresh, maxMembers).read(read);
    merge(fresh, folder, true);
    merge(fresh, folder, false);
    return { ok: true };
  } catch (error) {
    if (error instanceof TarFault) return { ok: false, status: 400, code: "bad_archive", message: error.message };
    const { code: name, message } = fileErrorOf(error);
    const [status, code] = FAILURES[name] ?? [500, "failed"];
    return { ok: false, status, code, message };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

class Unpacking {
  readonly #folder: string;
  readonly #fresh: string;
  readonly #reader: TarReader;
  /** Paths of folders, none of which is or lies below a link. */
  readonly #made = new Set([""]);
  #membersLeft: number;
  #bytesLeft = MAX_BYTES;
  /** The file whose bytes are arriving. */
  #open: { readonly fd: number; readonly member: TarMember } | undefined;

  /** @param fresh Within the folder. */
  constructor(folder: string, fresh: string, maxMembers: number) {
    this.#folder = folder;
    this.#fresh = fresh;
    this.#membersLeft = maxMembers;
    this.#reader = new TarReader({
      member: (member) => this.#member(member),
      bytes: (bytes, offset) => this.#write(bytes, offset),
      memberEnd: () => this.#close(),
    });
  }

  read(read: (room: Uint8Array) => number): void {
    let left = MAX_ARCHIVE_BYTES;
    const room = Buffer.alloc(READ_BYTES);
    for (let count = read(room); count > 0; count = read(room)) {
      if (left === MAX_ARCHIVE_BYTES && room[0] === 0x1f)
        throw new TarFault("it is compressed: send the tar archive as it is");
      left -= count;
      if (left < 0) throw tooMuch();
      this.#reader.push(room.subarray(0, count));
    }
    if (!this.#reader.isWhole) throw new TarFault("the archive breaks off");
  }

  #member(member: TarMember): void {
    const { name, kind, target, mode, size } = member;
    const refuse: Refuse = (why) => new FileError("bad_member", `${JSON.stringify(name.slice(0, 256))} ${why}`);
    if (kind !== "folder") this.#count(size);
    if (kind === "other") throw refuse("is neither a file, a folder nor a link");
    if ((mode & FOREIGN_RIGHTS) !== 0) throw refuse("would run with another's rights: setuid or setgid");
    if (name.length >= MAX_NAME) throw refuse("has too long a name");
    const parts = partsOf(name);
    if (parts === undefined) throw refuse("leads out of the workspace");
    if (parts.length > MAX_PARTS) throw refuse(`has more than ${MAX_PARTS} parts`);
    if (kind === "folder") {
      this.#enter(parts, mode, refuse);
      return;
    }
    if (parts.length === 0) throw refuse("has no name");
    if (kind === "link" && !this.#staysInside(parts, target))
      throw refuse("is a link that leads out of the workspace: have it left out by `excludes` of persist");
    this.#enter(parts.slice(0, -1), FOLDER_MODE, refuse);
    this.#make(this.#at(parts), member, refuse);
  }

  #staysInside(parts: readonly string[], target: string): boolean {
    const below = `${target}/`.startsWith(`${this.#folder}/`) ? target.slice(this.#folder.length + 1) : undefined;
    if (below !== undefined) return leadsTo([""], below, 0) !== undefined;
    return target !== "" && leadsTo(parts, target, 0) !== undefined;
  }

  /** A later member of the same name counts. */
  #make(path: Buffer, member: TarMember, refuse: Refuse): void {
    const known = lstatSync(path, { throwIfNoEntry: false });
    if (known?.isDirectory() === true) throw refuse("stands in the place of a folder");
    const { kind, target } = member;
    const from = kind === "hard link" ? this.#at(partsOf(target) ?? []) : undefined;
    const isFile = from !== undefined && !from.equals(path) && lstatSync(from, { throwIfNoEntry: false })?.isFile();
    if (from !== undefined && isFile !== true) throw refuse("is another name of a file that is not in the archive");
    if (known !== undefined) unlinkSync(path);
    if (from !== undefined) linkSync(from, path);
    else if (kind === "link") symlinkSync(Buffer.from(target, "latin1"), path);
    else this.#open = { fd: openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), member };
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
    // The file may end with a hole.
    ftruncateSync(fd, member.size);
    fchmodSync(fd, member.mode & 0o777);
    futimesSync(fd, member.modifiedAt, member.modifiedAt);
    closeSync(fd);
  }

  /** One that the archive does not list counts like one that it does. */
  #enter(parts: readonly string[], mode: number, refuse: Refuse): void {
    const path = parts.join("/");
    if (this.#made.has(path)) return;
    this.#enter(parts.slice(0, -1), FOLDER_MODE, refuse);
    const known = lstatSync(this.#at(parts), { throwIfNoEntry: false });
    if (known?.isSymbolicLink() === true) throw refuse("lies below a link, or in the place of one");
    if (known !== undefined) throw refuse("has a folder in the place of a file");
    this.#count(0);
    // Its owner's rights stay: what follows is written into it.
    mkdirSync(this.#at(parts), { mode: (mode & 0o777) | 0o700 });
    this.#made.add(path);
  }

  #count(bytes: number): void {
    this.#membersLeft -= 1;
    this.#bytesLeft -= bytes;
    if (this.#membersLeft < 0 || this.#bytesLeft < 0) throw tooMuch();
  }

  #at(parts: readonly string[]): Buffer {
    return Buffer.concat([Buffer.from(`${this.#fresh}/`), Buffer.from(parts.join("/"), "latin1")]);
  }
}

/** Replaces files and links, and goes into folders that are there. @param isTrial Only looks whether it can. @throws {FileError} */
function merge(from: string | Buffer, into: string | Buffer, isTrial: boolean): void {
  for (const name of readdirSync(from, { encoding: "buffer" })) {
    const [source, target] = [below(from, name), below(into, name)];
    const known = lstatSync(target, { throwIfNoEntry: false });
    const isFolder = lstatSync(source).isDirectory();
    if (known?.isDirectory() === true) {
      if (isFolder) merge(source, target, isTrial);
      else throw new FileError("bad_member", `${JSON.stringify(latin1(name))} stands in the place of a folder`);
      continue;
    }
    if (isTrial) continue;
    // Replaces a link itself, never its target.
    if (known !== undefined && isFolder) unlinkSync(target);
    renameSync(source, target);
  }
}

function below(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from("/"), name]);
}

function tooMuch(): FileError {
  return new FileError("too_long", `more than 1 GiB, or than ${MAX_MEMBERS} members`);
}
