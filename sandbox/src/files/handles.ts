// Files that the helper holds open for their readers, by the name that each reader gives its handle.

import { closeSync, readSync } from "node:fs";
import { FileError } from "./file-error.ts";

/** Of one owner. */
const MAX_OPEN = 64;
/** Of all together. */
const MAX_ALL = 1_024;
const MAX_BLOCK_BYTES = 1024 * 1024;

type Name = { readonly owner: string; readonly handle: string };

export class Handles {
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
