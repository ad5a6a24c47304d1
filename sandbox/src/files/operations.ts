// The operations on files, as the helper does them: one after the other, with the rights of its user.

import * as fs from "node:fs";
import { closeSync, readSync } from "node:fs";
import type { FileKind, FileOrder, FileSuccess } from "sandbox-stdio/core";
import { FileError, fileErrorOf } from "./file-error.ts";
import { atPlace, inDirectory } from "./place.ts";

/** Most open files of one owner. */
const MAX_OPEN = 64;
/** Most open files in all. */
const MAX_ALL = 1_024;
const MAX_BLOCK_BYTES = 1024 * 1024;

type Name = { readonly owner: string; readonly handle: string };

/** Files that the helper holds open for their readers, by the name that each reader gives its handle. */
class Handles {
  /** Descriptors, by owner and handle. */
  readonly #open = new Map<string, number>();

  get count(): number {
    return this.#open.size;
  }

  /** @param open Opens the file; not called if there is no room. */
  open(name: Name, open: () => number): void {
    if (this.#open.has(keyOf(name))) throw new FileError("EEXIST", "a file is open by this handle: close it first");
    const own = [...this.#open.keys()].filter((key) => JSON.parse(key)[0] === name.owner);
    if (own.length >= MAX_OPEN || this.#open.size >= MAX_ALL) {
      throw new FileError("EMFILE", `${MAX_OPEN} files are open: close one`);
    }
    this.#open.set(keyOf(name), open());
  }

  read({ offset, length, ...name }: Name & { readonly offset: number; readonly length: number }) {
    const fd = this.#open.get(keyOf(name));
    if (fd === undefined) throw new FileError("EBADF", "no file is open by this handle: open it again");
    if (length > MAX_BLOCK_BYTES) throw new FileError("EINVAL", `a block has at most ${MAX_BLOCK_BYTES} bytes`);
    // One byte more: the end is told with the last bytes, not by an empty block behind them.
    const room = Buffer.alloc(length + 1);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < room.length; filled += count) {
      count = readSync(fd, room, filled, room.length - filled, offset + filled);
    }
    return { bytes: room.subarray(0, Math.min(filled, length)), isEnd: filled <= length };
  }

  close(name: Name): void {
    const fd = this.#open.get(keyOf(name));
    if (fd !== undefined) closeSync(fd);
    this.#open.delete(keyOf(name));
  }
}

function keyOf({ owner, handle }: Name): string {
  return JSON.stringify([owner, handle]);
}

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
/** Entries that one copy may have. */
const MAX_COPIED = 100_000;

export type Done = { readonly answer: FileSuccess; readonly bytes?: Uint8Array };

const OK: Done = { answer: { ok: true } };

export class FileOperations {
  readonly #handles = new Handles();

  /** Whether a file is held open for somebody. */
  get isInUse(): boolean {
    return this.#handles.count > 0;
  }

  /** @param bytes What is to be written. @throws {Error} With the `code` of errno(3). */
  carryOut(order: FileOrder, bytes: Uint8Array): Done {
    switch (order.op) {
      case "stat":
        return atPlace(order.path, "keep", undefined, ({ path }) => stat(path));
      case "read":
        return atPlace(order.path, "follow", order.within, ({ path }) => read(path, order.maxBytes));
      case "write":
        return atPlace(order.path, "follow", order.within, ({ path }) => write(path, bytes));
      case "mkdir":
        return makeDirectory(order);
      case "list":
        return inDirectory(order.path, ({ path }) => {
          const entries = fs.readdirSync(path, { withFileTypes: true });
          return { answer: { ok: true, entries: entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })) } };
        });
      case "walk":
        return walk(order);
      case "real":
        return atPlace(order.path, "follow", undefined, ({ path, real }) => {
          fs.lstatSync(path);
          return { answer: { ok: true, path: real } };
        });
      case "remove":
        return atPlace(order.path, "keep", undefined, ({ path }) => remove(path, order.recursive, order.force));
      case "copy":
        return copy(order);
      case "open":
        return atPlace(order.path, "follow", undefined, ({ path }) => {
          this.#handles.open(order, () => openRegular(path));
          return OK;
        });
      case "block": {
        const block = this.#handles.read(order);
        return { answer: { ok: true, isEnd: block.isEnd }, bytes: block.bytes };
      }
      case "close":
        this.#handles.close(order);
        return OK;
      case "where":
        return where();
    }
  }
}

function where(): Done {
  const { HOME = "/", SHELL } = process.env;
  const shell = [SHELL, "/bin/bash", "/bin/sh"].find((path) => path !== undefined && fs.existsSync(path)) ?? "/bin/sh";
  return { answer: { ok: true, where: { cwd: process.cwd(), home: HOME, shell } } };
}

type Typed = Pick<fs.Stats, "isFile" | "isDirectory" | "isSymbolicLink">;

function kindOf(entry: Typed): FileKind {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "directory";
  return entry.isFile() ? "file" : "other";
}

function stat(path: string): Done {
  const own = fs.lstatSync(path);
  const isLink = own.isSymbolicLink();
  const facts = isLink ? (fs.statSync(path, { throwIfNoEntry: false }) ?? own) : own;
  const { size, mode, birthtimeMs, mtimeMs } = facts;
  const times = { createdAtMs: Math.floor(birthtimeMs), modifiedAtMs: Math.floor(mtimeMs) };
  return { answer: { ok: true, facts: { kind: kindOf(facts), isLink, size, mode, ...times } } };
}

/** A FIFO or a device would keep the helper waiting. */
function openRegular(path: string): number {
  const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const facts = fs.fstatSync(fd);
  if (facts.isFile()) return fd;
  fs.closeSync(fd);
  throw notRegular(facts.isDirectory());
}

function notRegular(isDirectory: boolean): FileError {
  return isDirectory
    ? new FileError("EISDIR", "is a directory")
    : new FileError("ENOTREG", "is neither a file nor a directory");
}

function read(path: string, maxBytes: number): Done {
  const fd = openRegular(path);
  try {
    const { size } = fs.fstatSync(fd);
    if (size > maxBytes) throw tooBig(maxBytes);
    // A file of /proc says that it is empty.
    const room = Buffer.alloc(Math.min(maxBytes + 1, Math.max(size + 1, 65_536)));
    let length = 0;
    for (;;) {
      const count = fs.readSync(fd, room, length, room.length - length, null);
      length += count;
      if (count === 0 || length === room.length) break;
    }
    if (length > maxBytes || (length === room.length && length > size)) throw tooBig(Math.min(maxBytes, length));
    return { answer: { ok: true }, bytes: room.subarray(0, length) };
  } finally {
    fs.closeSync(fd);
  }
}

function tooBig(maxBytes: number): FileError {
  return new FileError("EFBIG", `the file has more than ${maxBytes} bytes`);
}

function write(path: string, bytes: Uint8Array): Done {
  const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
  try {
    const facts = fs.fstatSync(fd);
    if (!facts.isFile()) throw notRegular(facts.isDirectory());
    fs.ftruncateSync(fd, 0);
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done, done);
    return OK;
  } finally {
    fs.closeSync(fd);
  }
}

function makeDirectory({ path, recursive }: Extract<FileOrder, { op: "mkdir" }>): Done {
  const make = (one: string): Done =>
    atPlace(one, "follow", undefined, (place) => {
      const known = fs.lstatSync(place.path, { throwIfNoEntry: false });
      if (known?.isDirectory() === true && recursive) return OK;
      fs.mkdirSync(place.path);
      return OK;
    });
  if (!recursive) return make(path);
  let done = OK;
  const names = path.split("/").filter((name) => name !== "");
  for (let i = 1; i <= names.length; i += 1) {
    const one = `/${names.slice(0, i).join("/")}`;
    // Directories on the way may lie outside: only new ones are looked at.
    if (i === names.length || fs.statSync(one, { throwIfNoEntry: false }) === undefined) done = make(one);
  }
  return done;
}

function walk(order: Extract<FileOrder, { op: "walk" }>): Done {
  const { maxEntries, maxDepth, maxDirectories, followLinks } = order;
  const entries: { name: string; kind: FileKind }[] = [];
  const errors: { path: string; message: string }[] = [];
  const seen = new Set<string>();
  let truncated = false;
  const queue = [{ path: order.path, depth: 0 }];
  for (let next = queue.shift(); next !== undefined && !truncated; next = queue.shift()) {
    const { path: folder, depth } = next;
    try {
      inDirectory(folder, ({ path, real }) => {
        if (seen.has(real)) return;
        if (seen.size >= maxDirectories) {
          truncated = true;
          return;
        }
        seen.add(real);
        for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
          if (entries.length + errors.length >= maxEntries) {
            truncated = true;
            return;
          }
          const at = `${folder === "/" ? "" : folder}/${entry.name}`;
          const led = entry.isSymbolicLink() && followLinks ? fs.statSync(at, { throwIfNoEntry: false }) : undefined;
          const kind = kindOf(led ?? entry);
          entries.push({ name: at, kind });
          if (kind === "directory" && depth + 1 < maxDepth) queue.push({ path: at, depth: depth + 1 });
        }
      });
    } catch (error) {
      if (depth === 0) throw error;
      errors.push({ path: folder, message: fileErrorOf(error).message });
    }
  }
  return { answer: { ok: true, entries, errors, truncated } };
}

/** A link is removed itself, never what it leads to; and nothing is entered by way of one. */
function remove(path: string, recursive: boolean, force: boolean): Done {
  const known = fs.lstatSync(path, { throwIfNoEntry: false });
  if (known === undefined) {
    if (force) return OK;
    throw new FileError("ENOENT", "no such file or directory");
  }
  if (!known.isDirectory()) fs.unlinkSync(path);
  else if (recursive) fs.rmSync(path, { recursive: true, force });
  else fs.rmdirSync(path);
  return OK;
}

function copy({ path, to, recursive }: Extract<FileOrder, { op: "copy" }>): Done {
  let left = MAX_COPIED;
  const copyOne = (from: string, into: string): void => {
    left -= 1;
    if (left < 0) throw new FileError("EFBIG", `more than ${MAX_COPIED} files to copy`);
    const facts = fs.lstatSync(from);
    if (facts.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(from), into);
    else if (facts.isFile()) fs.copyFileSync(from, into);
    else if (!facts.isDirectory()) throw notRegular(false);
    else {
      if (!recursive) throw new FileError("EISDIR", "is a directory: copy it with recursive");
      if (fs.lstatSync(into, { throwIfNoEntry: false })?.isDirectory() !== true) fs.mkdirSync(into);
      for (const name of fs.readdirSync(from)) copyOne(`${from}/${name}`, `${into}/${name}`);
    }
  };
  atPlace(path, "keep", undefined, (source) =>
    atPlace(to, "keep", undefined, (target) => {
      if (target.real === source.real || target.real.startsWith(`${source.real}/`)) {
        throw new FileError("EINVAL", "a file can't be copied into itself");
      }
      copyOne(source.path, target.path);
    }),
  );
  return OK;
}
