// Calls a session object that has gone, where there is news for it: a request to the address that the platform passes on to the
// Worker. It shows the bridge's secret, which no process of a session knows.

import { Doorbell, type Parking, type Progress } from "sandbox-stdio/core";
import { log } from "./log.ts";

/** Where it is called, and what is shown there. */
export type BellSettings = { readonly url: string; readonly token: string };

const PATIENCE_MS = 10_000;

export class Bell {
  readonly #settings: BellSettings | undefined;
  readonly #incarnation: string;
  readonly #doorbell = new Doorbell();
  #isCalling = false;

  /** @param settings Undefined: nobody can be called. */
  constructor(settings: BellSettings | undefined, incarnation: string) {
    this.#settings = settings;
    this.#incarnation = incarnation;
  }

  get isThere(): boolean {
    return this.#settings !== undefined;
  }

  /** The object has gone. @param parking Undefined: it has not said how it is called. */
  gone(parking: Parking | undefined, nowMs: number): void {
    if (parking !== undefined && this.isThere) this.#doorbell.park(parking, nowMs);
  }

  /** The object is here. */
  answered(): void {
    this.#doorbell.answered();
  }

  /** When {@link tick} calls; infinity for never. */
  nextMs(progress: Progress): number {
    return this.#isCalling ? Number.POSITIVE_INFINITY : this.#doorbell.nextMs(progress);
  }

  /** @param looked Called when a call is over: another may be due. */
  tick(progress: Progress, nowMs: number, looked: () => void): void {
    const { parking } = this.#doorbell;
    if (parking === undefined || this.#settings === undefined || this.nextMs(progress) > nowMs) return;
    this.#doorbell.called(progress, nowMs);
    this.#isCalling = true;
    void call(this.#settings, { session: parking.bell, incarnation: this.#incarnation }).finally(() => {
      this.#isCalling = false;
      looked();
    });
  }
}

async function call({ url, token }: BellSettings, whom: { session: string; incarnation: string }): Promise<void> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(whom),
      // A redirect would carry the secret to another address.
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.arrayBuffer();
    if (!response.ok) log.warn(`a session object that was called answers ${response.status}`);
  } catch (error) {
    log.warn("a session object can't be called:", error instanceof Error ? error.message : error);
  }
}
