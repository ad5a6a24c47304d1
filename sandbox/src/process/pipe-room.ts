// Enlarges the pipes of programs that carry much: each side then runs four times as long before it waits for the other. The kernel
// limits the pages of each user's pipes, and makes new pipes tiny beyond that: so only a few pipes are enlarged.

import { libc } from "../base/libc.ts";

const F_SETPIPE_SZ = 1031;
/** In place of 64 KiB. */
const LARGE_BYTES = 256 * 1024;
/** A quarter of the kernel's default limit for a user. */
const MAX_GROWN = 64;

let grown = 0;

export class PipeRoom {
  readonly #fd: number;
  #isGrown = false;
  #isAsked = false;

  /** @param fd Any descriptor, still the caller's: one that is not a pipe stays as it is. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** To be called when the pipe was full. Only the first call counts. @returns Whether there is more room now. */
  grow(): boolean {
    if (this.#isAsked) return false;
    this.#isAsked = true;
    if (grown >= MAX_GROWN) return false;
    this.#isGrown = libc.fcntl(this.#fd, F_SETPIPE_SZ, LARGE_BYTES) >= LARGE_BYTES;
    if (this.#isGrown) grown += 1;
    return this.#isGrown;
  }

  /** To be called once, when the descriptor is closed. */
  end(): void {
    if (this.#isGrown) grown -= 1;
    this.#isGrown = false;
  }
}
