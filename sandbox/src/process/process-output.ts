// Reads one descriptor of a program straight into the sink's memory, a bounded piece per call, and can be held.
// Knows neither the meaning of the bytes nor when the program ended.

import { constants } from "node:os";
import { MAX_FRAME_BYTES } from "sandbox-stdio/core";
import { errno, LibcError, libc, Struct } from "../base/libc.ts";
import { PipeRoom } from "./pipe-room.ts";
import { BROKEN, HALF_CLOSED, poller, READABLE, type Reader, type Watch } from "./poller.ts";

/** Bytes without a pause after which output counts as a flood. */
const FLOOD_BYTES = 16 * 1024;
/** A pause this long ends a flood. */
const LULL_MS = 2;
/** Output waits at most twice this long, and only until it fills a frame. */
export const GATHER_MS = 1;
/** How long after input its echo, or the output that follows a ^C, is expected. */
export const TYPED_MS = 100;

interface GatheringClock {
  now(): number;
  /** @returns Cancels it. */
  wakeIn(ms: number, wake: () => void): () => void;
}

const CLOCK: GatheringClock = {
  now: () => performance.now(),
  wakeIn: (ms, wake) => {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Decides whether output goes out as soon as the kernel has no more, or is gathered for a moment, as while a program floods
 * without input. Knows neither the bytes nor where they go.
 */
export class Gathering {
  readonly #flush: () => void;
  readonly #clock: GatheringClock;
  /** Read since the last lull. */
  #runBytes = 0;
  #lastReadMs = 0;
  #typedAtMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  /** All waiting output was read after the timer was set. */
  #isYoung = false;

  /** @param flush Sends the waiting output. */
  constructor(flush: () => void, clock = CLOCK) {
    this.#flush = flush;
    this.#clock = clock;
  }

  /** The program was given input or a signal: its next output may be the answer. */
  typed(): void {
    this.#typedAtMs = this.#clock.now();
  }

  read(bytes: number, nowMs: number): void {
    if (nowMs - this.#lastReadMs > LULL_MS) this.#runBytes = 0;
    this.#lastReadMs = nowMs;
    this.#runBytes += bytes;
  }

  /** The kernel has no more for now. @returns Whether the output should wait: `flush` is called in time. */
  keeps(): boolean {
    if (this.#runBytes < FLOOD_BYTES || this.#lastReadMs - this.#typedAtMs < TYPED_MS) return false;
    if (this.#cancel === undefined) this.#arm();
    return true;
  }

  /** The waiting output has gone out. */
  flushed(): void {
    this.#isYoung = true;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    this.#isYoung = false;
    this.#cancel = this.#clock.wakeIn(GATHER_MS, () => {
      this.#cancel = undefined;
      if (this.#isYoung) this.#arm();
      else this.#flush();
    });
  }
}

/** The target of output. It is read from the kernel into the memory that `reserve` hands out, with no copy in between. */
export interface OutputSink {
  /** Room for the next output bytes, contiguous, 1 byte or more; used synchronously, until commit or the next reserve. */
  reserve(): Uint8Array;
  /** The first `length` bytes of the last reserve() are now output of `stream` (1 stdout, 2 stderr; a PTY has only 1). */
  commit(length: number, stream: 1 | 2): void;
  /**
   * Committed bytes may go out. Called as soon as the kernel has no more for now, in a flood a moment later, and when the
   * process is held; and on the way each time another {@link FLUSH_BYTES} have come, so that under load frames are large.
   */
  flush(): void;
}

/** The most that is read at once, and that waits for a flush: one frame, as a part of another frame costs as much as all of it. */
const FLUSH_BYTES = MAX_FRAME_BYTES;

/** Less output than this after a pause (an echo, a prompt) goes out before the next read. */
const PROMPT_BYTES = 1_024;

const { EAGAIN, ECONNREFUSED, ECONNRESET, EINTR, EIO, ETIMEDOUT } = constants.errno;
/** Errors of a TCP connection that was broken off. */
const BROKEN_OFF: readonly number[] = [ECONNREFUSED, ECONNRESET, ETIMEDOUT];
const POLLFD_BYTES = 8;
const POLLIN = 0x001;
const POLLHUP = 0x010;

export class ProcessOutput implements Reader {
  readonly #fd: number;
  readonly #stream: 1 | 2;
  readonly #sink: OutputSink;
  readonly #onEnd: (isBrokenOff: boolean) => void;
  readonly #watch: Watch;
  readonly #room: PipeRoom;
  readonly #gathering = new Gathering(() => this.#flush());
  #unflushedBytes = 0;
  /** The kernel had no more output: the next bytes go out without waiting for those that follow. */
  #wasQuiet = true;
  #isHeld = false;
  /** The other end is gone, which is reported only once: read until the end. */
  #isEnding = false;
  #isClosed = false;
  #lastByteAtMs = 0;

  /** Takes over `fd`, which is non-blocking. At its end it is closed, then `onEnd` called. */
  constructor(fd: number, stream: 1 | 2, sink: OutputSink, onEnd: (isBrokenOff: boolean) => void) {
    this.#fd = fd;
    this.#room = new PipeRoom(fd);
    this.#stream = stream;
    this.#sink = sink;
    this.#onEnd = onEnd;
    this.#watch = poller().watch(fd, READABLE | HALF_CLOSED, (events) => {
      if ((events & (BROKEN | HALF_CLOSED)) !== 0) this.#isEnding = true;
      if (!this.#isHeld) poller().enqueue(this);
    });
  }

  /** By performance.now(); 0 before the first byte. */
  get lastByteAtMs(): number {
    return this.#lastByteAtMs;
  }

  /** The program was given input: its output goes out at once for a while. */
  expectAnswer(): void {
    this.#gathering.typed();
  }

  /** Reads no more, and flushes the bytes read so far. The program blocks once the kernel's buffer is full. */
  hold(): void {
    this.#isHeld = true;
    poller().dequeue(this);
    this.#flush();
  }

  release(): void {
    if (!this.#isHeld || this.#isClosed) return;
    this.#isHeld = false;
    // A report that came while held is not repeated.
    poller().enqueue(this);
  }

  /** Gives up further output, without calling `onEnd`. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    poller().dequeue(this);
    this.#watch.stop();
    this.#room.end();
    this.#gathering.stop();
    libc.close(this.#fd);
  }

  readSome(): boolean {
    if (this.#isHeld || this.#isClosed) return false;
    const room = this.#sink.reserve();
    const count = libc.read(this.#fd, room, Math.min(room.length, FLUSH_BYTES - this.#unflushedBytes));
    if (count > 0) {
      this.#lastByteAtMs = performance.now();
      this.#gathering.read(count, this.#lastByteAtMs);
      this.#sink.commit(count, this.#stream);
      this.#unflushedBytes += count;
      const isPrompt = this.#wasQuiet && count < PROMPT_BYTES;
      // The sink may have held or closed this meanwhile.
      if (this.#unflushedBytes === FLUSH_BYTES) this.#room.grow();
      if (this.#unflushedBytes === FLUSH_BYTES || this.#isHeld || isPrompt) this.#flush();
      // A short read was all there is: more is reported anew, and another read would cost as much.
      if (isPrompt && count < room.length && !this.#isEnding) return false;
      this.#wasQuiet = false;
      return !this.#isHeld && !this.#isClosed;
    }
    const failure = count === 0 ? 0 : errno();
    if (failure === EAGAIN && this.#unflushedBytes > 0 && this.#gathering.keeps()) return false;
    this.#wasQuiet = true;
    this.#flush();
    if (failure === EAGAIN) return false;
    if (failure === EINTR) return true;
    if (failure === EIO && !this.#hasHungUp()) return true;
    const isBrokenOff = BROKEN_OFF.includes(failure);
    if (failure !== 0 && failure !== EIO && !isBrokenOff) throw new LibcError("read a program's output", failure);
    this.close();
    this.#onEnd(isBrokenOff);
    return false;
  }

  /** A terminal ends with EIO. Checked before the output is given up, as the runtime may have overwritten errno. */
  #hasHungUp(): boolean {
    const { view: request, bytes } = new Struct(POLLFD_BYTES);
    request.setInt32(0, this.#fd, true);
    request.setInt16(4, POLLIN, true);
    libc.poll(bytes, 1, 0);
    const events = request.getInt16(6, true);
    return (events & POLLHUP) !== 0 && (events & POLLIN) === 0;
  }

  #flush(): void {
    if (this.#unflushedBytes === 0) return;
    this.#unflushedBytes = 0;
    this.#gathering.flushed();
    this.#sink.flush();
  }
}
