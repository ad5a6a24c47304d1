// Calls a session object that has gone, where there is news for it: a request to the address that the platform passes on to the
// Worker. It shows the bridge's secret, which no process of a session knows.

import { Doorbell, type InnerServer, type Progress } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import type { BellLine } from "./bell-line.ts";

export class Bell {
  readonly #line: BellLine | undefined;
  readonly #incarnation: string;
  readonly #doorbell = new Doorbell();
  #isCalling = false;

  /** @param line Undefined: no session object can be called. */
  constructor(line: BellLine | undefined, incarnation: string) {
    this.#line = line;
    this.#incarnation = incarnation;
  }

  get isThere(): boolean {
    return this.#line?.isOpen === true;
  }

  /** The object has gone. @param last Where it has not said how it is called, `parking` is undefined. */
  gone({ parking, isStopLate }: Pick<InnerServer, "parking" | "isStopLate">, nowMs: number): void {
    if (parking === undefined || !this.isThere) return;
    this.#doorbell.park(parking, nowMs);
    if (isStopLate) this.#doorbell.stopping();
  }

  /** The bridge stops. */
  stopping(): void {
    this.#doorbell.stopping();
  }

  /** The object is here. */
  answered(): void {
    this.#doorbell.answered();
  }

  /** Whether the process counts as attended although nobody is attached. */
  isKept(nowMs: number): boolean {
    return this.#doorbell.keptUntilMs > nowMs;
  }

  /** When to look whether it still does; infinity for never. */
  keptEndMs(nowMs: number): number {
    return this.isKept(nowMs) ? this.#doorbell.keptUntilMs : Number.POSITIVE_INFINITY;
  }

  /** When {@link tick} calls; infinity for never. */
  nextMs(progress: Progress): number {
    return this.#isCalling ? Number.POSITIVE_INFINITY : this.#doorbell.nextMs(progress);
  }

  /** @param looked Called when a call is over: another may be due. */
  tick(progress: Progress, nowMs: number, looked: () => void): void {
    const { parking } = this.#doorbell;
    if (parking === undefined || this.#line === undefined || this.nextMs(progress) > nowMs) return;
    this.#doorbell.called(progress, nowMs);
    this.#isCalling = true;
    void call(this.#line, { session: parking.bell, incarnation: this.#incarnation }).finally(() => {
      this.#isCalling = false;
      looked();
    });
  }
}

async function call(line: BellLine, whom: { session: string; incarnation: string }): Promise<void> {
  try {
    const status = await line.call(whom);
    if (status >= 300) log.warn(`a session object that was called answers ${status}`);
  } catch (error) {
    log.warn("a session object can't be called:", error instanceof Error ? error.message : error);
  }
}
