// The worker's state, in memory that the bridge reads also while the worker does not answer.

/** Places in the shared memory. */
const SESSION = 0;
const STEPS = 1;
const DONE = 2;
const PLACES = 3;

export class Watch {
  readonly shared: SharedArrayBuffer;
  readonly #places: Int32Array;

  constructor(shared = new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#places = new Int32Array(shared);
  }

  /** The session whose screen the worker is working at; 0: none. */
  get session(): number {
    return Atomics.load(this.#places, SESSION);
  }

  /** Another number after each piece of work. */
  get steps(): number {
    return Atomics.load(this.#places, STEPS);
  }

  /** Messages that were dealt with. */
  get done(): number {
    return Atomics.load(this.#places, DONE);
  }

  /** The worker begins a piece of work. */
  begin(session: number): void {
    Atomics.store(this.#places, SESSION, session);
    Atomics.add(this.#places, STEPS, 1);
  }

  /** The worker has nothing to do, or looks for its next work. */
  rest(): void {
    Atomics.store(this.#places, SESSION, 0);
  }

  finish(messages: number): void {
    Atomics.add(this.#places, DONE, messages);
  }
}
