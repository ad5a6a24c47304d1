// Writes to one descriptor of a program as much as the kernel takes, and reports when it takes more. Has no queue: bytes that were
// not taken stay with the caller.

import { constants } from "node:os";
import { errno, LibcError, libc } from "../base/libc.ts";
import { PipeRoom } from "./pipe-room.ts";
import { poller, type Watch, WRITABLE } from "./poller.ts";

const { EAGAIN, ECONNREFUSED, ECONNRESET, EINTR, EIO, EPIPE, ETIMEDOUT } = constants.errno;
/** The bytes have no reader: a pipe, a terminal or a connection whose other end is gone. */
const UNREAD: readonly number[] = [EPIPE, EIO, ECONNREFUSED, ECONNRESET, ETIMEDOUT];

export class ProcessInput {
  readonly #fd: number;
  readonly #onWritable: () => void;
  readonly #room: PipeRoom;
  /** Made when the kernel's buffer was full for the first time, which it never is for most programs. */
  #watch: Watch | undefined;
  #isWaiting = false;
  #hasBeenRead = false;
  /** Whether the kernel is asked to report room. */
  #isReported = false;
  #isClosed = false;

  /** Takes over `fd`, which is non-blocking. */
  constructor(fd: number, onWritable: () => void) {
    this.#fd = fd;
    this.#room = new PipeRoom(fd);
    this.#onWritable = onWritable;
  }

  /**
   * @returns How many bytes were taken. If fewer than given, `onWritable` follows once. Without a reader (the program has closed its
   * end or has exited, or `close` was called) all are taken and dropped.
   */
  write(bytes: Uint8Array): number {
    if (this.#isClosed) return bytes.length;
    let taken = 0;
    // Writes until the buffer is full: a program that reads makes room meanwhile, and a report of it costs more.
    while (taken < bytes.length) {
      const rest = taken === 0 ? bytes : bytes.subarray(taken);
      const count = libc.write(this.#fd, rest, rest.length);
      if (count > 0) {
        taken += count;
        continue;
      }
      const failure = count < 0 ? errno() : EAGAIN;
      if (failure === EINTR) continue;
      if (UNREAD.includes(failure)) {
        this.close();
        return bytes.length;
      }
      if (failure !== EAGAIN) throw new LibcError("write a program's input", failure);
      // The buffer was full and has been read since: a larger one is worth it.
      if (this.#hasBeenRead && this.#room.grow()) continue;
      this.#awaitRoom();
      break;
    }
    return taken;
  }

  /** Whether written bytes are dropped. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** No more input; a pipe's reader sees its end. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch?.stop();
    this.#room.end();
    libc.close(this.#fd);
    // A writer that waits for room would wait for ever.
    if (this.#isWaiting) setImmediate(this.#onWritable);
    this.#isWaiting = false;
  }

  #awaitRoom(): void {
    this.#isWaiting = true;
    if (this.#isReported) return; // The buffer is full, so that the next report is about later room.
    this.#isReported = true;
    if (this.#watch !== undefined) this.#watch.want(WRITABLE);
    else this.#watch = poller().watch(this.#fd, WRITABLE, () => this.#hasRoom());
  }

  #hasRoom(): void {
    this.#hasBeenRead = true;
    if (this.#isWaiting) {
      this.#isWaiting = false;
      this.#onWritable();
      return;
    }
    // A terminal reports room after every key that its program reads: switched off if no writer waits. Not at the report before,
    // as long input waits again at once.
    this.#isReported = false;
    this.#watch?.want(0);
  }
}
