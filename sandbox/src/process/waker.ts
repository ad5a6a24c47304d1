// Wakes the event loop when an epoll set has something ready. A thread is blocked in poll(2) on the set, which works on every kernel.

import { LibcError, libc, O_CLOEXEC, O_NONBLOCK } from "../base/libc.ts";

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
            // Read before a stop and reported after it: put back for the next reader.
            if (!done) this.signal();
            return;
          }
          if (done) return fail("its stream ended");
          // Ready output goes out before the kernel is asked for the next event. An error of the callback must reach the top, but
          // must not silence every session.
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

/** A waker that fails would leave every session silent for ever: thrown where no caller can catch it. */
function fail(reason: unknown): void {
  setImmediate(() => {
    throw new Error(`The waker of the process poller died: ${reason}`);
  });
}

const POLLIN = 1;
/** The longest system call: between two of them the runtime can end the thread. */
const MAX_WAIT_MS = 1_000;

/** The thread: waits for `armed`, then for `watched`, and writes to `wake`, for ever. */
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
  const request = new Int32Array([armed, ${POLLIN}]);
  const turn = () => {
    while (libc.poll(request, 1, ${MAX_WAIT_MS}) === 1) {
      const isReady = request[0] === watched;
      if (isReady) libc.write(wake, count, 8);
      else libc.read(armed, count, 8);
      request[0] = isReady ? armed : watched;
    }
    setImmediate(turn);
  };
  turn();
};`;

/** Reports once that a descriptor became readable, then has to be armed again. Its thread takes about 3 MB. */
export class Waker {
  readonly #event: WakeEvent;
  readonly #armFd: number;
  #isArmed = false;

  constructor(fd: number, onWake: () => void) {
    this.#event = new WakeEvent(() => {
      this.#isArmed = false;
      onWake();
    });
    this.#armFd = libc.eventfd(0, O_NONBLOCK | O_CLOEXEC);
    if (this.#armFd < 0) throw new LibcError("make an eventfd");
    // From a blob and not a file: a compiled binary has no second entry point.
    const url = URL.createObjectURL(new Blob([THREAD_SOURCE], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onerror = ({ message }) => fail(message);
    worker.addEventListener("close", () => fail("its thread ended"));
    worker.postMessage({ watched: fd, armed: this.#armFd, wake: this.#event.fd });
    worker.unref();
  }

  /** Asks for one wake: at once if the descriptor is readable now. Without effect if armed already. */
  arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    if (libc.write(this.#armFd, ONE, ONE.byteLength) !== ONE.byteLength) throw new LibcError("arm the waker's thread");
  }

  /** Listens for wakes; keeps the runtime alive until `stop`. */
  start(): void {
    this.#event.start();
  }

  /** Stops listening. An armed descriptor stays armed: a wake that comes meanwhile is delivered after the next `start`. */
  stop(): void {
    this.#event.stop();
  }
}
