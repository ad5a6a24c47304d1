// Writes to one descriptor of a program what the kernel takes, and tells when it takes more.
// Queues nothing: what was not taken is still the caller's.

import { constants } from "node:os";
import { errno, LibcError, libc } from "./libc.ts";
import { poller, type Watch, WRITABLE } from "./poller.ts";

const { EAGAIN, EINTR, EIO, EPIPE } = constants.errno;

export class Input {
  readonly #fd: number;
  readonly #onWritable: () => void;
  /** Made when the kernel was full for the first time; most programs' input never is. */
  #watch: Watch | undefined;
  #isWaiting = false;
  #isClosed = false;

  /** Takes over `fd`, which is non-blocking. */
  constructor(fd: number, onWritable: () => void) {
    this.#fd = fd;
    this.#onWritable = onWritable;
  }

  /**
   * How many bytes were taken. Fewer than given: full, `onWritable` follows once. When nobody can read them any more
   * (the program has closed its end, or is gone, or `close` was called) all are taken and dropped.
   */
  write(bytes: Uint8Array): number {
    if (this.#isClosed || bytes.length === 0) return bytes.length;
    let count: number;
    let failure = 0;
    do {
      count = libc.write(this.#fd, bytes, bytes.length);
      failure = count < 0 ? errno() : 0;
    } while (failure === EINTR);
    if (failure === EPIPE || failure === EIO) {
      this.close();
      return bytes.length;
    }
    if (failure !== 0 && failure !== EAGAIN) throw new LibcError("write a program's input", failure);
    if (count < bytes.length) this.#awaitRoom();
    return Math.max(count, 0);
  }

  /** No more input; a pipe's reader sees its end. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch?.stop();
    libc.close(this.#fd);
    // Whoever waits for room would wait for ever.
    if (this.#isWaiting) setImmediate(this.#onWritable);
    this.#isWaiting = false;
  }

  #awaitRoom(): void {
    this.#isWaiting = true;
    if (this.#watch !== undefined) this.#watch.want(WRITABLE);
    else this.#watch = poller().watch(this.#fd, WRITABLE, () => this.#hasRoom());
  }

  #hasRoom(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    // A terminal reports room after every key its program reads: only wanted while somebody waits.
    this.#watch?.want(0);
    this.#onWritable();
  }
}
