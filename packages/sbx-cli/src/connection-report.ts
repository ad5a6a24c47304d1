// Tells a person of the connection: that it is lost, the cause and length of a wait, and the outcome. Keeps no
// connection; its clock and timer are handed in.

import type { ClientState } from "sandbox-stdio/core";
import type { Notices } from "./notices.ts";

export type ReportClock = {
  now(): number;
  setTimer(ms: number, callback: () => void): () => void;
};

/** A person waits no longer without a word. */
const PATIENCE_MS = 2_000;

export class ConnectionReport {
  readonly #notices: Notices;
  readonly #clock: ReportClock;
  #isAttached = false;
  #lostAtMs: number | undefined;
  #hasToldStart = false;
  #state: ClientState | undefined;
  /** Why the last attempt came to nothing. */
  #reason: string | undefined;
  #cancelPatience: (() => void) | undefined;
  /** The last words while waiting: they are not said twice. */
  #told: string | undefined;

  constructor(notices: Notices, clock: ReportClock) {
    this.#notices = notices;
    this.#clock = clock;
  }

  state(state: ClientState): void {
    this.#state = state;
    if (state.phase === "attached" || state.phase === "ended") this.#waited();
    else this.#wait();
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

  /** Nothing is heard although something was sent; then that it is. */
  quiet(isQuiet: boolean): void {
    this.#notices.say(isQuiet ? "nothing heard for 3 s: the network may be down" : "heard again");
  }

  #lost(reason: string, retryAtMs: number | undefined): void {
    this.#reason = reason;
    if (retryAtMs === undefined) {
      this.#waited();
      this.#notices.say(`the session sleeps (${reason}); a key wakes it`);
    } else if (!this.#isAttached || this.#lostAtMs !== undefined) {
      this.#notices.detail(`not connected: ${reason}`);
    } else this.#notices.say(`connection lost (${reason}), reconnecting…`);
    if (this.#isAttached) this.#lostAtMs ??= this.#clock.now();
  }

  #resumed(gap: number): void {
    const seconds = ((this.#clock.now() - (this.#lostAtMs ?? this.#clock.now())) / 1000).toFixed(1);
    this.#notices.say(`resumed after ${seconds} s, ${gap === 0 ? "nothing lost" : `${gap} bytes of output lost`}`);
  }

  #wait(): void {
    this.#cancelPatience ??= this.#clock.setTimer(PATIENCE_MS, () => {
      this.#cancelPatience = undefined;
      this.#tell();
      if (this.#state?.phase !== "attached" && this.#state?.phase !== "ended") this.#wait();
    });
  }

  #waited(): void {
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
    this.#told = undefined;
  }

  /** The cause of the wait: said anew if it changes, or begins to last much longer. */
  #tell(): void {
    const state = this.#state;
    if (state === undefined || state.phase === "starting") return;
    const why = this.#reason === undefined ? "" : ` (${this.#reason})`;
    const leftMs = state.phase === "waiting" && state.retryAtMs !== undefined ? state.retryAtMs - this.#clock.now() : 0;
    const isLong = leftMs > PATIENCE_MS;
    const key = `${why} ${isLong}`;
    if (key === this.#told) return;
    this.#told = key;
    const when = isLong ? `trying again in ${Math.ceil(leftMs / 1000)} s` : "trying again";
    this.#notices.say(this.#reason === undefined ? "waiting for the server's answer" : `not connected${why}: ${when}`);
  }
}
