// The worker's progress, in shared memory that the bridge can read while the worker is busy.

/** Indices of the shared memory. */
const SESSION = 0;
const STEPS = 1;
const DONE = 2;
const COUNT = 3;

export class Watch {
  readonly shared: SharedArrayBuffer;
  readonly #counters: Int32Array;

  constructor(shared = new SharedArrayBuffer(COUNT * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#counters = new Int32Array(shared);
  }

  /** The session whose screen the worker works on; 0: none. */
  get session(): number {
    return Atomics.load(this.#counters, SESSION);
  }

  /** Changes with each piece of work. */
  get steps(): number {
    return Atomics.load(this.#counters, STEPS);
  }

  /** How many messages were handled. */
  get done(): number {
    return Atomics.load(this.#counters, DONE);
  }

  /** The worker begins a piece of work. */
  begin(session: number): void {
    Atomics.store(this.#counters, SESSION, session);
    Atomics.add(this.#counters, STEPS, 1);
  }

  /** The worker is idle, or between two pieces of work. */
  rest(): void {
    Atomics.store(this.#counters, SESSION, 0);
  }

  finish(messages: number): void {
    Atomics.add(this.#counters, DONE, messages);
  }
}
