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
  readonly #open = new Map<string, Map<string, number>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param open Opens the file; not called if there is no room. */
  open({ owner, handle }: Name, open: () => number): void {
    const own = this.#open.get(owner) ?? new Map<string, number>();
    if (own.has(handle)) throw new FileError("EEXIST", "a file is open by this handle: close it first");
    if (own.size >= MAX_OPEN || this.#count >= MAX_ALL) {
      throw new FileError("EMFILE", `${MAX_OPEN} files are open: close one`);
    }
    own.set(handle, open());
    this.#open.set(owner, own);
    this.#count += 1;
  }

  read({ owner, handle, offset, length }: Name & { readonly offset: number; readonly length: number }) {
    const fd = this.#open.get(owner)?.get(handle);
    if (fd === undefined) throw new FileError("EBADF", "no file is open by this handle: open it again");
    if (length > MAX_BLOCK_BYTES) throw new FileError("EINVAL", `a block has at most ${MAX_BLOCK_BYTES} bytes`);
    const room = Buffer.alloc(length);
    let filled = 0;
    let isEnd = false;
    while (filled < length && !isEnd) {
      const count = readSync(fd, room, filled, length - filled, offset + filled);
      filled += count;
      isEnd = count === 0;
    }
    // Told with the last bytes, not by an empty block behind them.
    if (!isEnd) isEnd = readSync(fd, Buffer.alloc(1), 0, 1, offset + filled) === 0;
    return { bytes: room.subarray(0, filled), isEnd };
  }

  close({ owner, handle }: Name): void {
    const own = this.#open.get(owner);
    const fd = own?.get(handle);
    if (own === undefined || fd === undefined) return;
    closeSync(fd);
    own.delete(handle);
    this.#count -= 1;
    if (own.size === 0) this.#open.delete(owner);
  }
}
