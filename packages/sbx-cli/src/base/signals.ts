// Signals that this program gets: passed on to the remote process, or taken as the wish to end. Asks others which.

import type { SignalName } from "sandbox-stdio/core";

/** Signals that end a program which does not handle them. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
const OTHERS = ["SIGUSR1", "SIGUSR2"] as const;
const HANDLED: readonly SignalName[] = [...ENDING, ...OTHERS];

export type SignalEvents = {
  /** Whether this signal is for the remote process. If not, an ending signal ends this program. */
  isForRemote(signal: SignalName): boolean;
  /** Whether the session would take a signal from us: a viewer's it does not. An ending one is this program's then, too. */
  isAllowed(): boolean;
  /** @returns Whether it was sent: without a connection it is not. */
  send(signal: SignalName): boolean;
  end(signal: NodeJS.Signals): void;
  /** A signal that this program's parent has it ignore, as nohup does. */
  isIgnored(signal: SignalName): boolean;
};

/** An ending signal that can't be passed on ends this program after so long. */
const PATIENCE_MS = 4_000;

export class SignalRelay {
  readonly #events: SignalEvents;
  readonly #waiting = new Set<SignalName>();
  readonly #listeners = new Map<SignalName, () => void>();
  /** A signal has asked for the end before: the next one ends this program. */
  #hasPassedEnding = false;
  #patience: NodeJS.Timeout | undefined;

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

  /** The connection is there: signals that came meanwhile are passed on. */
  flush(): void {
    for (const signal of this.#waiting) if (this.#events.send(signal)) this.#waiting.delete(signal);
    clearTimeout(this.#patience);
  }

  close(): void {
    clearTimeout(this.#patience);
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
    this.#listeners.clear();
  }

  #handle(signal: SignalName): void {
    const isEnding = ENDING.some((ending) => ending === signal);
    const isOwn = isEnding && (this.#hasPassedEnding || !this.#events.isAllowed());
    if (isOwn || !this.#events.isForRemote(signal)) {
      if (isEnding) this.#events.end(signal);
      return;
    }
    if (isEnding) this.#hasPassedEnding = true;
    if (this.#events.send(signal)) return;
    this.#waiting.add(signal);
    // A supervisor that stops a program gives it a few seconds: an outage may last for minutes.
    if (isEnding) this.#patience = setTimeout(() => this.#events.end(signal), PATIENCE_MS);
  }
}
