// Passes signals of this program on to the remote process, or takes them as its end. The owner decides which.

import type { SignalName } from "sandbox-stdio/core";
import { ENDING_SIGNALS } from "./ignored-signals.ts";

const OTHERS = ["SIGUSR1", "SIGUSR2"] as const;
const HANDLED: readonly SignalName[] = [...ENDING_SIGNALS, ...OTHERS];

export type SignalEvents = {
  /** Whether the signal is for the remote process. If not, an ending signal ends this program. */
  isForRemote(signal: SignalName): boolean;
  /** Whether the session accepts our signals: not from a viewer, whose ending signals end this program. */
  isAllowed(): boolean;
  /** @returns Whether it was sent; false while disconnected. */
  send(signal: SignalName): boolean;
  end(signal: NodeJS.Signals): void;
  /** Whether the parent process had this program ignore the signal, as nohup does. */
  isIgnored(signal: SignalName): boolean;
};

/** Time after which an ending signal that can't be passed on ends this program. */
const PATIENCE_MS = 4_000;

export class SignalRelay {
  readonly #events: SignalEvents;
  readonly #waiting = new Set<SignalName>();
  readonly #listeners = new Map<SignalName, () => void>();
  /** Whether an ending signal was passed on: the next one ends this program. */
  #hasPassedEnding = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(events: SignalEvents) {
    this.#events = events;
  }

  listen(): void {
    for (const signal of HANDLED) {
      const listener = this.#events.isIgnored(signal) ? () => undefined : () => this.#handle(signal);
      this.#listeners.set(signal, listener);
      process.on(signal, listener);
    }
  }

  /** Connected: sends the signals that came meanwhile. */
  flush(): void {
    for (const signal of this.#waiting) if (this.#events.send(signal)) this.#waiting.delete(signal);
    clearTimeout(this.#timer);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
    this.#listeners.clear();
  }

  #handle(signal: SignalName): void {
    const isEnding = ENDING_SIGNALS.some((ending) => ending === signal);
    const isOwn = isEnding && (this.#hasPassedEnding || !this.#events.isAllowed());
    if (isOwn || !this.#events.isForRemote(signal)) {
      if (isEnding) this.#events.end(signal);
      return;
    }
    if (isEnding) this.#hasPassedEnding = true;
    if (this.#events.send(signal)) return;
    this.#waiting.add(signal);
    // Supervisors wait a few seconds before SIGKILL; an outage may last minutes.
    if (isEnding) this.#timer = setTimeout(() => this.#events.end(signal), PATIENCE_MS);
  }
}
