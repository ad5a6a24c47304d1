// What a person is told of the connection: that it is lost, and what became of it. Keeps no connection.

import type { ClientState } from "sandbox-stdio/core";
import type { Notices } from "./notices.ts";

export class ConnectionReport {
  readonly #notices: Notices;
  readonly #now: () => number;
  #isAttached = false;
  #lostAtMs: number | undefined;
  #hasToldStart = false;

  constructor(notices: Notices, now: () => number) {
    this.#notices = notices;
    this.#now = now;
  }

  state(state: ClientState): void {
    switch (state.phase) {
      case "connecting":
        if (state.attempt > 0) this.#notices.detail(`connecting, attempt ${state.attempt + 1}`);
        return;
      case "starting":
        if (!this.#hasToldStart) this.#notices.say("the sandbox is starting");
        this.#hasToldStart = true;
        return;
      case "attached": {
        const { hello } = state;
        const size = hello.tty ? `a PTY of ${hello.cols} by ${hello.rows}` : "pipes";
        this.#notices.detail(`attached to session ${hello.session} of sandbox ${hello.sandbox}, ${size}`);
        if (hello.approximate === true) this.#notices.detail("the screen may not be exact until it is drawn anew");
        if (this.#lostAtMs !== undefined) this.#resumed(hello.gap ?? 0);
        this.#isAttached = true;
        this.#lostAtMs = undefined;
        return;
      }
      case "waiting":
        this.#lost(state.reason, state.retryAtMs);
        return;
      case "ended":
        return;
    }
  }

  #lost(reason: string, retryAtMs: number | undefined): void {
    if (retryAtMs === undefined) {
      this.#notices.say(`the session sleeps (${reason}); a key wakes it`);
    } else if (!this.#isAttached || this.#lostAtMs !== undefined) {
      this.#notices.detail(`not connected: ${reason}`);
    } else this.#notices.say(`connection lost (${reason}), reconnecting…`);
    if (this.#isAttached) this.#lostAtMs ??= this.#now();
  }

  #resumed(gap: number): void {
    const seconds = ((this.#now() - (this.#lostAtMs ?? this.#now())) / 1000).toFixed(1);
    this.#notices.say(`resumed after ${seconds} s, ${gap === 0 ? "nothing lost" : `${gap} bytes of output lost`}`);
  }
}
