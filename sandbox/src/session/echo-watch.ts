// Whether the terminal shows what is typed, as the program has set it: looked at whenever something happens there, and told at
// a bounded pace.

/** The time between two tellings: a program that switches to and fro is no flood. */
const STEP_MS = 50;

export class EchoWatch {
  readonly #ask: () => boolean | undefined;
  readonly #tell: (on: boolean) => void;
  /** As told last. A terminal begins with its echo on. */
  isOn = true;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  /** When to look again although nothing has happened. */
  nextMs: number | undefined;

  constructor(ask: () => boolean | undefined, tell: (on: boolean) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  look(nowMs: number): void {
    const isSame = (this.#ask() ?? this.isOn) === this.isOn;
    const dueMs = this.#toldAtMs + STEP_MS;
    this.nextMs = isSame || nowMs >= dueMs ? undefined : dueMs;
    if (isSame || nowMs < dueMs) return;
    this.isOn = !this.isOn;
    this.#toldAtMs = nowMs;
    this.#tell(this.isOn);
  }
}
