// One wake-up for everything that a shell has to do at some time. Knows no timers: the shell has them.

/** The calls of a deadline to its shell. All times are milliseconds of one clock. */
export interface DeadlinePorts {
  now(): number;
  /** When something is due next; infinity for never. */
  nextMs(nowMs: number): number;
  /** Does the tasks that are due. May be early by a fraction of a millisecond: then none is due yet. */
  due(nowMs: number): void;
  /** Has `wake` called once, after so many whole milliseconds. @returns Calls that off. */
  wakeIn(ms: number, wake: () => void): () => void;
}

export class Deadline {
  readonly #ports: DeadlinePorts;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #callOff: (() => void) | undefined;
  #isStopped = false;

  constructor(ports: DeadlinePorts) {
    this.#ports = ports;
  }

  /** To be called if something may be due earlier than before. A wake-up that comes too early looks again by itself. */
  look(): void {
    if (this.#isStopped) return;
    const nowMs = this.#ports.now();
    const nextMs = this.#ports.nextMs(nowMs);
    if (nextMs >= this.#wakeAtMs && nextMs !== Number.POSITIVE_INFINITY) return;
    this.#callOff?.();
    this.#callOff = undefined;
    this.#wakeAtMs = nextMs;
    // A shell with nothing to do has no timer either: one keeps a Durable Object in memory.
    if (nextMs === Number.POSITIVE_INFINITY) return;
    this.#callOff = this.#ports.wakeIn(Math.max(0, Math.ceil(nextMs - nowMs)), () => this.#wake());
  }

  /** Looks only if `atMs` is before the next wake-up. Undefined: never. */
  expect(atMs: number | undefined): void {
    if (atMs !== undefined && atMs < this.#wakeAtMs) this.look();
  }

  /** Nothing is due any more. */
  stop(): void {
    this.#isStopped = true;
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #wake(): void {
    this.#callOff = undefined;
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    try {
      this.#ports.due(this.#ports.now());
    } finally {
      // Without the next wake-up the shell would never look again.
      this.look();
    }
  }
}

/** The earliest of several times, in milliseconds; infinity if there is none. */
export function earliest(times: Iterable<number | undefined>): number {
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const atMs of times) if (atMs !== undefined && atMs < earliestMs) earliestMs = atMs;
  return earliestMs;
}
