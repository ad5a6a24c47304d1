// Holds back and ends one session's process, and tells when it has ended.

import type { ExitStatus } from "sandbox-stdio/core";
import { endProcess } from "../process/ending.ts";
import type { LoggedProcess } from "./logged-process.ts";

export class ProcessControl {
  /** Resolves once the exit is known. */
  readonly exited: Promise<ExitStatus>;
  readonly #process: Pick<LoggedProcess, "child" | "screen">;
  readonly #resolveExited: (status: ExitStatus) => void;
  #isHeld = false;
  #isKilling = false;
  #hasExited = false;

  constructor(process: Pick<LoggedProcess, "child" | "screen">) {
    this.#process = process;
    const { promise, resolve } = Promise.withResolvers<ExitStatus>();
    this.exited = promise;
    this.#resolveExited = resolve;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** @param wish Whether the process is to wait. One that is being killed does not. @returns Whether that changes anything. */
  hold(wish: boolean): boolean {
    const shouldHold = wish && !this.#isKilling;
    if (shouldHold === this.#isHeld || this.#hasExited) return false;
    const { child, screen } = this.#process;
    this.#isHeld = shouldHold;
    if (screen !== undefined) screen.isHeld = shouldHold;
    if (shouldHold) child.hold();
    else child.release();
    return true;
  }

  /** SIGHUP, then SIGTERM, then SIGKILL to every process of the session. Resolves once the exit is known. */
  async kill(): Promise<void> {
    if (!this.#isKilling && !this.#hasExited) {
      this.#isKilling = true;
      endProcess(this.#process.child);
    }
    await this.exited;
  }

  ended(status: ExitStatus): void {
    this.#hasExited = true;
    this.#resolveExited(status);
  }
}
