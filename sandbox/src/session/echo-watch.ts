// Whether the terminal shows what is typed, as the program has set it: checked whenever something happens there and once shortly
// after, and told at a bounded rate.

/** Least time between two messages, and how long after an event the terminal is checked again. */
const STEP_MS = 50;

export class EchoWatch {
  readonly #ask: () => boolean | undefined;
  readonly #tell: (on: boolean) => void;
  /** The last state told. A terminal begins with its echo on. */
  isOn = true;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  /** When to check without an event. */
  nextMs: number | undefined;

  constructor(ask: () => boolean | undefined, tell: (on: boolean) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  /** Something has happened at the terminal. Many programs print their prompt first and switch the echo off right after it. */
  look(nowMs: number): void {
    this.tick(nowMs);
    this.nextMs ??= nowMs + STEP_MS;
  }

  tick(nowMs: number): void {
    const isSame = (this.#ask() ?? this.isOn) === this.isOn;
    const dueMs = this.#toldAtMs + STEP_MS;
    this.nextMs = isSame || nowMs >= dueMs ? undefined : dueMs;
    if (isSame || nowMs < dueMs) return;
    this.isOn = !this.isOn;
    this.#toldAtMs = nowMs;
    this.#tell(this.isOn);
  }
}
