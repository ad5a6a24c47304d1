// Tells a person of the connection: that it is lost, the cause and length of a wait, and the outcome. Keeps no
// connection; its clock and timer are handed in.

import type { ClientState } from "sandbox-stdio/core";
import type { Notices } from "../base/notices.ts";
import { NextWord, PATIENCE_MS, spanWords } from "../base/patience.ts";

export type ReportClock = {
  /** In ms, from the start of this program. */
  now(): number;
  setTimer(ms: number, callback: () => void): () => void;
};

/** A program that has taken longer to start than this was held up by its own machine. */
const SLOW_START_MS = 1_000;

export class ConnectionReport {
  readonly #notices: Notices;
  readonly #clock: ReportClock;
  #isAttached = false;
  #lostAtMs: number | undefined;
  #hasToldStart = false;
  /** When this wait began. The first one began with the program. */
  #sinceMs = 0;
  readonly #startMs: number;
  #stage = "waiting for the server's answer";
  #next: NextWord | undefined;
  #state: ClientState | undefined;
  /** Why the last attempt came to nothing. */
  #reason: string | undefined;
  /** The reason that was told last in this wait. */
  #toldReason: string | undefined;
  #cancelPatience: (() => void) | undefined;

  constructor(notices: Notices, clock: ReportClock) {
    this.#notices = notices;
    this.#clock = clock;
    this.#startMs = clock.now();
  }

  /** What a connection that is being made waits for now, in words. */
  stage(words: string): void {
    this.#stage = words;
  }

  state(state: ClientState): void {
    this.#state = state;
    if (state.phase === "attached" || state.phase === "ended") this.#waited();
    else {
      // A wait goes on from attempt to attempt.
      if (this.#isAttached && this.#next === undefined) this.#sinceMs = this.#clock.now();
      this.#wait();
    }
    switch (state.phase) {
      case "connecting":
        if (state.attempt > 0) this.#notices.detail(`connecting, attempt ${state.attempt + 1}`);
        return;
      case "starting":
        if (!this.#hasToldStart) this.#notices.say("the sandbox is starting");
        this.#hasToldStart = true;
        this.#next?.said("the sandbox is still starting false", this.#clock.now());
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
    if (this.#next === undefined) {
      this.#next = new NextWord(this.#sinceMs);
      this.#setTimer(this.#next.firstInMs(this.#clock.now()));
    }
  }

  #setTimer(ms: number): void {
    this.#cancelPatience = this.#clock.setTimer(ms, () => {
      this.#tell();
      this.#setTimer(PATIENCE_MS);
    });
  }

  #waited(): void {
    this.#cancelPatience?.();
    this.#cancelPatience = undefined;
    this.#next = undefined;
    this.#toldReason = undefined;
  }

  /** The cause of the wait and its length: said anew if the cause changes, or the wait lasts much longer. */
  #tell(): void {
    const state = this.#state;
    if (state === undefined || this.#next === undefined) return;
    const nowMs = this.#clock.now();
    const leftMs = state.phase === "waiting" && state.retryAtMs !== undefined ? state.retryAtMs - nowMs : 0;
    const isLong = leftMs > PATIENCE_MS;
    // The end of a wait that was told is no news, and what the last attempt waited for is none either.
    if (state.phase === "waiting" && !isLong && this.#toldReason === this.#reason) return;
    const cause = this.#cause(state, isLong);
    if (!this.#next.isDue(`${cause} ${isLong}`, nowMs)) return;
    const when = isLong ? `: trying again in ${Math.ceil(leftMs / 1000)} s` : ` (${this.#span(nowMs)})`;
    this.#toldReason = this.#reason;
    this.#notices.say(`${cause}${when}`);
  }

  #cause(state: ClientState, isLong: boolean): string {
    if (state.phase === "starting") return "the sandbox is still starting";
    if (this.#reason === undefined) return this.#stage;
    const reason = `not connected (${this.#reason})`;
    if (isLong) return reason;
    return state.phase === "waiting" ? `${reason}: trying again` : `${reason}: trying again, ${this.#stage}`;
  }

  #span(nowMs: number): string {
    const span = `${spanWords(nowMs - this.#sinceMs)} so far`;
    const isSlow = this.#sinceMs === 0 && this.#startMs >= SLOW_START_MS;
    return isSlow ? `${span}; ${spanWords(this.#startMs)} of it to start on this machine, which is busy` : span;
  }
}
