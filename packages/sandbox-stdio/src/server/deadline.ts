// One timer for all deadlines of a shell: its parts report when they are due. The shell owns the timers.

/** A part of a shell with deadlines, all in milliseconds of one clock. */
export interface Timed {
  /** When {@link tick} is due; undefined or infinity for never. */
  nextTickMs(nowMs: number): number | undefined;
  /** Does all due work. May be called early. */
  tick(nowMs: number): void;
}

export interface DeadlinePorts {
  now(): number;
  /** The current parts, in the order in which they are served. */
  parts(): readonly Timed[];
  /** Called after the parts have been served. */
  served(): void;
  /** Calls `wake` once after `ms`, a whole number. @returns How to cancel it. */
  wakeIn(ms: number, wake: () => void): () => void;
}

export class Deadline {
  readonly #ports: DeadlinePorts;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake: (() => void) | undefined;
  #isStopped = false;

  constructor(ports: DeadlinePorts) {
    this.#ports = ports;
  }

  /** Call if something may be due earlier than before. A wake-up that comes too early reschedules itself. */
  look(): void {
    if (this.#isStopped) return;
    const nowMs = this.#ports.now();
    const nextMs = earliest(this.#ports.parts().map((part) => part.nextTickMs(nowMs)));
    if (nextMs >= this.#wakeAtMs && nextMs !== Number.POSITIVE_INFINITY) return;
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    this.#wakeAtMs = nextMs;
    // Set no timer without a deadline: a timer keeps a Durable Object in memory.
    if (nextMs === Number.POSITIVE_INFINITY) return;
    this.#cancelWake = this.#ports.wakeIn(Math.max(0, Math.ceil(nextMs - nowMs)), () => this.#wake());
  }

  /** Looks only if `atMs` is before the next wake-up. Undefined: never. */
  expect(atMs: number | undefined): void {
    if (atMs !== undefined && atMs < this.#wakeAtMs) this.look();
  }

  /** Cancels all deadlines. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelWake?.();
    this.#cancelWake = undefined;
  }

  #wake(): void {
    this.#cancelWake = undefined;
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

/** The earliest of several times in milliseconds; infinity if there is none. */
export function earliest(times: Iterable<number | undefined>): number {
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const atMs of times) if (atMs !== undefined && atMs < earliestMs) earliestMs = atMs;
  return earliestMs;
}
