// More room in a program's pipe once it carries much: each side then runs four times as long before it waits for the other.
// The kernel counts such pages for each user, and gives new pipes of one who has many of them next to none: so only few grow.

import { libc } from "../base/libc.ts";

const F_SETPIPE_SZ = 1031;
/** A pipe has 64 KiB. */
const MUCH_BYTES = 256 * 1024;
/** A quarter of what the kernel leaves to a user by default. */
const MOST_GROWN = 64;

let grown = 0;

export class PipeRoom {
  readonly #fd: number;
  #isGrown = false;
  #isAsked = false;

  /** Does not own `fd`, which may be anything: what is no pipe stays as it is. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** It carries much: it was full, or was read as if it had been. Only the first time counts. @returns Whether it has more room now. */
  grow(): boolean {
    if (this.#isAsked) return false;
    this.#isAsked = true;
    if (grown >= MOST_GROWN) return false;
    this.#isGrown = libc.fcntl(this.#fd, F_SETPIPE_SZ, MUCH_BYTES) >= MUCH_BYTES;
    if (this.#isGrown) grown += 1;
    return this.#isGrown;
  }

  /** To be called once, when the descriptor is closed. */
  end(): void {
    if (this.#isGrown) grown -= 1;
    this.#isGrown = false;
  }
}
