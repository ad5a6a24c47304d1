// Wakes the event loop when an epoll set has something ready, by Linux AIO (IOCB_CMD_POLL) or by a blocked thread.
// Knows only a file descriptor and a callback, not the content of the set.

import { log } from "../log.ts";
import { addressOf, LibcError, libc, O_CLOEXEC, O_NONBLOCK, Struct, SYS } from "./libc.ts";

/** Tells once that a file descriptor became readable, then has to be armed again. */
export interface Waker {
  /** Asks for one wake, at once if the descriptor is readable now. Armed already: nothing. */
  arm(): void;
  /** Listens for wakes; keeps the runtime alive until `stop`. */
  start(): void;
  /** Stops listening. An armed descriptor stays armed: a wake that comes meanwhile is given after the next `start`. */
  stop(): void;
}

export type WakerKind = "aio" | "thread";

/**
 * A waker for `fd`. The default is `aio`: the kernel itself signals an eventfd, no thread and 1.5 MB less. A kernel
 * without it (CONFIG_AIO off, a seccomp filter) gets `thread`, and a line on stderr says so.
 */
export function createWaker(fd: number, onWake: () => void, kind?: WakerKind): Waker {
  if (kind === "thread") return new ThreadWaker(fd, onWake);
  try {
    return new AioWaker(fd, onWake);
  } catch (error) {
    if (kind === "aio") throw error;
    log.warn(`process: ${error instanceof Error ? error.message : error}; waiting on a thread instead`);
    return new ThreadWaker(fd, onWake);
  }
}

/** The value to write to an eventfd to make it happen. */
const ONE = new BigUint64Array([1n]);

/**
 * An eventfd that Bun's own loop waits on. Bun takes it for a pollable file (it is not a regular one); each read
 * of the stream gives the 8 bytes of its count.
 */
class WakeEvent {
  readonly fd: number;
  readonly #onEvent: () => void;
  #reader: { cancel(): Promise<void> } | undefined;

  constructor(onEvent: () => void) {
    this.fd = libc.eventfd(0, O_NONBLOCK | O_CLOEXEC);
    if (this.fd < 0) throw new LibcError("make an eventfd");
    this.#onEvent = onEvent;
  }

  start(): void {
    if (this.#reader !== undefined) return;
    const reader = Bun.file(this.fd).stream().getReader();
    this.#reader = reader;
    const listen = (): void => {
      reader.read().then(
        ({ done }) => {
          if (this.#reader !== reader) {
            // Read before a stop, told after it: put back for the next reader.
            if (!done) this.signal();
            return;
          }
          if (done) return fail("its stream ended");
          // What is ready is on its way before the kernel is asked for the next event. An error thrown by the callback
          // reaches the top, but must not silence every session.
          try {
            this.#onEvent();
          } finally {
            if (this.#reader === reader) listen();
          }
        },
        (error: unknown) => {
          if (this.#reader === reader) fail(error);
        },
      );
    };
    listen();
  }

  /** Makes the event happen. */
  signal(): void {
    if (libc.write(this.fd, ONE, ONE.byteLength) !== ONE.byteLength) throw new LibcError("signal an eventfd");
  }

  stop(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.cancel().catch(fail);
  }
}

/** A waker that no longer wakes would leave every session silent for ever: thrown where no caller can swallow it. */
function fail(reason: unknown): void {
  setImmediate(() => {
    throw new Error(`The waker of the process poller died: ${reason}`);
  });
}

const IOCB_BYTES = 64;
const IOCB_CMD_POLL = 5;
const IOCB_FLAG_RESFD = 1;
const POLLIN = 1;
const AIO_EVENT_BYTES = 32;

/** IOCB_CMD_POLL: one request, one completion, announced through an eventfd. Linux 4.18. */
class AioWaker implements Waker {
  readonly #event: WakeEvent;
  readonly #context: bigint;
  // Fields, so that the collector leaves alone what the kernel is given addresses of.
  readonly #request = new Struct(IOCB_BYTES);
  readonly #requests = new BigUint64Array([addressOf(this.#request.bytes)]);
  readonly #requestsAddress = addressOf(this.#requests);
  readonly #completion = new Uint8Array(AIO_EVENT_BYTES);
  readonly #completionAddress: bigint;
  #isArmed = false;

  constructor(fd: number, onWake: () => void) {
    const context = new BigUint64Array(1);
    if (libc.syscall(SYS.io_setup, 1, addressOf(context), 0, 0, 0) !== 0) throw new LibcError("set up kernel AIO");
    this.#context = context[0] ?? 0n;
    this.#completionAddress = addressOf(this.#completion);
    this.#event = new WakeEvent(onWake);
    const request = this.#request.view;
    request.setUint16(16, IOCB_CMD_POLL, true);
    request.setUint32(20, fd, true);
    request.setBigUint64(24, BigInt(POLLIN), true);
    request.setUint32(56, IOCB_FLAG_RESFD, true);
    request.setUint32(60, this.#event.fd, true);
    // A first request here, so that a kernel that refuses it is known at once.
    this.arm();
  }

  arm(): void {
    // The completion of the last request is taken here and not at its wake: what is ready goes out first.
    if (this.#isArmed && libc.syscall(SYS.io_getevents, this.#context, 0, 1, this.#completionAddress, 0) !== 1) return;
    const submitted = libc.syscall(SYS.io_submit, this.#context, 1, this.#requestsAddress, 0, 0);
    if (submitted !== 1) throw new LibcError("poll by kernel AIO");
    this.#isArmed = true;
  }

  start(): void {
    this.#event.start();
  }

  stop(): void {
    this.#event.stop();
  }
}

/** Runs in a thread of its own: one read of `armed`, one blocking poll of `watched`, one write to `wake`, for ever. */
const THREAD_SOURCE = `
import { dlopen, FFIType } from "bun:ffi";
const { i32, u64, ptr } = FFIType;
const { symbols: libc } = dlopen("libc.so.6", {
  read: { args: [i32, ptr, u64], returns: i32 },
  write: { args: [i32, ptr, u64], returns: i32 },
  poll: { args: [ptr, u64, i32], returns: i32 },
});
self.onmessage = ({ data: { watched, armed, wake } }) => {
  const count = new BigUint64Array([1n]);
  const request = new Int32Array([watched, ${POLLIN}]);
  for (;;) {
    if (libc.read(armed, count, 8) !== 8) continue;
    while (libc.poll(request, 1, -1) !== 1) continue;
    libc.write(wake, count, 8);
  }
};`;

/** A thread blocked in poll(2). Works on every kernel; costs a runtime of its own (about 5 MB) and two thread switches. */
class ThreadWaker implements Waker {
  readonly #event: WakeEvent;
  readonly #armFd: number;
  #isArmed = false;

  constructor(fd: number, onWake: () => void) {
    this.#event = new WakeEvent(() => {
      this.#isArmed = false;
      onWake();
    });
    this.#armFd = libc.eventfd(0, O_CLOEXEC);
    if (this.#armFd < 0) throw new LibcError("make an eventfd");
    // From a blob and not a file: a compiled binary has no second entry point.
    const url = URL.createObjectURL(new Blob([THREAD_SOURCE], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onerror = ({ message }) => fail(message);
    worker.addEventListener("close", () => fail("its thread ended"));
    worker.postMessage({ watched: fd, armed: this.#armFd, wake: this.#event.fd });
    worker.unref();
  }

  arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    if (libc.write(this.#armFd, ONE, ONE.byteLength) !== ONE.byteLength) throw new LibcError("arm the waker's thread");
  }

  start(): void {
    this.#event.start();
  }

  stop(): void {
    this.#event.stop();
  }
}
