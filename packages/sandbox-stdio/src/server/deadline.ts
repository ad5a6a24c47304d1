// The deadlines of a shell: its parts say when they are due, and one timer serves all of them. Knows no timers: the shell has them.

/** A part of a shell that has something to do at certain times. All times are milliseconds of one clock. */
export interface Timed {
  /** When {@link tick} is due; undefined or infinity for never. */
  nextTickMs(nowMs: number): number | undefined;
  /** Does what is due. It may be called early, when nothing is due yet. */
  tick(nowMs: number): void;
}

export interface DeadlinePorts {
  now(): number;
  /** The parts that count just now, in the order in which they are served. */
  parts(): readonly Timed[];
  /** The parts have been served. */
  served(): void;
  /** Calls `wake` once, after this many whole milliseconds. @returns Cancels that. */
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
    const nextMs = earliest(this.#ports.parts().map((part) => part.nextTickMs(nowMs)));
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
      const nowMs = this.#ports.now();
      for (const part of this.#ports.parts()) part.tick(nowMs);
    } finally {
      // Without the next wake-up the shell would never look again.
      try {
        this.#ports.served();
      } finally {
        this.look();
      }
    }
  }
}

/** The earliest of several times, in milliseconds; infinity if there is none. */
export function earliest(times: Iterable<number | undefined>): number {
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const atMs of times) if (atMs !== undefined && atMs < earliestMs) earliestMs = atMs;
  return earliestMs;
}
