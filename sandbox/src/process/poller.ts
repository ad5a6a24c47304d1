// One epoll set for the descriptors of all sessions, and the turns in which their readers are served. Knows descriptors and
// callbacks only.

import { constants } from "node:os";
import { errno, LibcError, libc, O_CLOEXEC, Struct } from "../base/libc.ts";
import { Waker } from "./waker.ts";

export const READABLE = 0x001;
export const WRITABLE = 0x004;
/** The other end of a socket sends no more. Pipes and terminals have it among {@link BROKEN}. */
export const HALF_CLOSED = 0x2000;
/** The events that the kernel reports unasked: an error, or the other end is gone. */
export const BROKEN = 0x008 | 0x010;

const EDGE_TRIGGERED = 0x8000_0000;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLL_CTL_MOD = 3;
const { EINTR } = constants.errno;

// struct epoll_event is packed on x86-64 only.
const EVENT_BYTES = process.arch === "x64" ? 12 : 16;
const TOKEN_OFFSET = EVENT_BYTES - 8;
const EVENTS_AT_ONCE = 64;

/**
 * The longest turn, in milliseconds: between turns, keystrokes and sockets of other sessions are served. A time and not a number of
 * bytes, as terminals differ in speed fivefold.
 */
const TURN_MS = 0.2;

/** Something with bytes to read, served in turns with all others. */
export interface Reader {
  /** One bounded read. False: nothing more for now; the reader is not called again before the next {@link Poller.enqueue}. */
  readSome(): boolean;
}

/** A watched descriptor. Reports are edge triggered: one per change, so read or write until the kernel has no more. */
export interface Watch {
  /** Changes which events are reported: READABLE, WRITABLE, both or 0. An event that holds already is reported again. */
  want(interest: number): void;
  /** Ends the reports. Call it before the descriptor is closed. */
  stop(): void;
}

export class Poller {
  readonly #set: number;
  readonly #waker: Waker;
  readonly #request = new Struct(EVENT_BYTES);
  readonly #events = new Struct(EVENT_BYTES * EVENTS_AT_ONCE);
  /** By token, never by descriptor: numbers of descriptors are reused while reports about the old one are still listed. */
  readonly #watchers = new Map<number, (events: number) => void>();
  readonly #queue = new Set<Reader>();
  #nextToken = 1;
  #isTurnDue = false;
  #isInTurn = false;

  /** @throws {Error} If the kernel refuses an epoll set. */
  constructor() {
    this.#set = libc.epoll_create1(O_CLOEXEC);
    if (this.#set < 0) throw new LibcError("make an epoll set");
    this.#waker = new Waker(this.#set, () => this.#turn());
  }

  /** Reports `interest` in `fd` to `onEvents`, with {@link BROKEN} added unasked. Keeps the runtime alive until stopped. */
  watch(fd: number, interest: number, onEvents: (events: number) => void): Watch {
    const token = this.#nextToken++;
    this.#control(EPOLL_CTL_ADD, fd, interest, token);
    this.#watchers.set(token, onEvents);
    if (this.#watchers.size === 1) {
      this.#waker.start();
      this.#waker.arm();
    }
    return {
      want: (changed) => this.#control(EPOLL_CTL_MOD, fd, changed, token),
      stop: () => {
        if (!this.#watchers.delete(token)) return;
        this.#control(EPOLL_CTL_DEL, fd, 0, token);
        if (this.#watchers.size === 0) this.#waker.stop();
      },
    };
  }

  /** Has `reader` called in this turn, or soon in the next one. */
  enqueue(reader: Reader): void {
    this.#queue.add(reader);
    this.#scheduleTurn();
  }

  /** Removes a reader that has ended or is held. */
  dequeue(reader: Reader): void {
    this.#queue.delete(reader);
  }

  #control(operation: number, fd: number, interest: number, token: number): void {
    this.#request.view.setUint32(0, (interest | EDGE_TRIGGERED) >>> 0, true);
    this.#request.view.setUint32(TOKEN_OFFSET, token, true);
    if (libc.epoll_ctl(this.#set, operation, fd, this.#request.bytes) !== 0)
      throw new LibcError(`watch descriptor ${fd}`);
  }

  #scheduleTurn(): void {
    // A running turn serves the reader, or schedules the next turn.
    if (this.#isTurnDue || this.#isInTurn) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      this.#turn();
    });
  }

  /** Serves the ready readers in rounds of one read each, until none is ready or the time is up. */
  #turn(): void {
    const end = performance.now() + TURN_MS;
    this.#isInTurn = true;
    try {
      do {
        // In every round: the echo of a keystroke does not wait for the end of a flooding neighbour's turn.
        this.#dispatch();
        let left = this.#queue.size;
        for (const reader of this.#queue) {
          // To the end of the queue: the next turn continues with the next reader.
          this.#queue.delete(reader);
          if (reader.readSome()) this.#queue.add(reader);
          left -= 1;
          if (left === 0 || performance.now() >= end) break;
        }
      } while (this.#queue.size > 0 && performance.now() < end);
    } finally {
      this.#isInTurn = false;
      if (this.#queue.size > 0) this.#scheduleTurn();
      else if (this.#watchers.size > 0) this.#waker.arm();
    }
  }

  #dispatch(): void {
    const count = libc.epoll_wait(this.#set, this.#events.bytes, EVENTS_AT_ONCE, 0);
    if (count < 0 && errno() !== EINTR) throw new LibcError("look at the epoll set");
    for (let index = 0; index < count; index++) {
      const events = this.#events.view.getUint32(index * EVENT_BYTES, true);
      const token = this.#events.view.getUint32(index * EVENT_BYTES + TOKEN_OFFSET, true);
      try {
        this.#watchers.get(token)?.(events);
      } catch (error) {
        // Rethrown outside, as the reports behind it are given only once.
        setImmediate(() => {
          throw error;
        });
      }
    }
  }
}

let shared: Poller | undefined;

/** The one poller of this thread, made on first use. */
export function poller(): Poller {
  shared ??= new Poller();
  return shared;
}
