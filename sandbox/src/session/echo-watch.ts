// Whether the terminal shows what is typed, as the program has set it: looked at whenever something happens there, and told at
// a bounded pace.

import type { ChildProcess } from "../process/process.ts";

/** The time between two tellings: a program that switches to and fro is no flood. */
const STEP_MS = 50;

export class EchoWatch {
  readonly #child: Pick<ChildProcess, "isEchoing">;
  readonly #tell: (on: boolean) => void;
  /** As told last. A terminal begins with its echo on. */
  isOn = true;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #isDue = false;

  constructor(child: Pick<ChildProcess, "isEchoing">, tell: (on: boolean) => void) {
    this.#child = child;
    this.#tell = tell;
  }

  /** When to look again although nothing has happened. */
  get nextMs(): number | undefined {
    return this.#isDue ? this.#toldAtMs + STEP_MS : undefined;
  }

  look(nowMs: number): void {
    const on = this.#child.isEchoing() ?? this.isOn;
    this.#isDue = on !== this.isOn && nowMs < this.#toldAtMs + STEP_MS;
    if (on === this.isOn || this.#isDue) return;
    this.isOn = on;
    this.#toldAtMs = nowMs;
    this.#tell(on);
  }
}
