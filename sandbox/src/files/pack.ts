// *persist* (V4), in a process of the sandbox's user: a folder as a tar archive on standard output. Links are links, and what is neither
// file, folder nor link is left out. Names are bytes, one a character. Folders are opened one in the other, without following links.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  writeSync,
} from "node:fs";
import { latin1, partsOf, type TarEntry, tarEnd, tarHeader, tarPadding } from "sandbox-stdio/core";
import { below, openBelow, openDirectory } from "../base/directories.ts";
import { UNPACKING } from "./unpack.ts";

/** Followed by the folder and by what of it is left out: paths below it, with commas between them. */
export const PACK_FLAG = "--pack";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const PIECE_BYTES = 256 * 1024;

export function pack(folder: string, excludes: string): void {
  const left = excludes.split(",").map((path) => (partsOf(bytesAsText(path)) ?? []).join("/"));
  const isLeftOut = (path: string) => path.startsWith(UNPACKING) || left.includes(path);
  packFolder(openDirectory(realpathSync(folder)), "", isLeftOut);
  write(tarEnd());
}

/** Closes the folder. */
function packFolder(fd: number, prefix: string, isLeftOut: (path: string) => boolean): void {
  try {
    const names = readdirSync(below(fd, "."), { encoding: "buffer" }).map(latin1).sort();
    for (const name of names) if (!isLeftOut(prefix + name)) packOne(fd, name, prefix, isLeftOut);
  } finally {
    closeSync(fd);
  }
}

function packOne(fd: number, name: string, prefix: string, isLeftOut: (path: string) => boolean): void {
  const bytes = Buffer.from(name, "latin1");
  const path = below(fd, bytes);
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return; // It has gone since it was listed.
  const { mode, mtimeMs } = facts;
  const entry = { name: prefix + name, size: 0, mode: mode & 0o777, modifiedAt: Math.floor(mtimeMs / 1000) };
  if (facts.isSymbolicLink()) {
    const target = latin1(readlinkSync(path, { encoding: "buffer" }));
    write(tarHeader({ ...entry, kind: "link", target }));
  } else if (facts.isDirectory()) {
    const folder = openBelow(fd, bytes);
    write(tarHeader({ ...entry, kind: "folder" }));
    packFolder(folder, `${prefix}${name}/`, isLeftOut);
  } else if (facts.isFile()) packFile(path, entry);
}

/** As long as it was when it was opened, whatever is done to it meanwhile. */
function packFile(path: Buffer, entry: Omit<TarEntry, "kind">): void {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) return;
    const { size } = facts;
    write(tarHeader({ ...entry, kind: "file", size }));
    for (let at = 0; at < size; ) {
      const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - at));
      readSync(fd, piece, 0, piece.length, at);
      write(piece);
      at += piece.length;
    }
    write(tarPadding(size));
  } finally {
    closeSync(fd);
  }
}

function bytesAsText(text: string): string {
  return latin1(Buffer.from(text));
}

function write(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}
