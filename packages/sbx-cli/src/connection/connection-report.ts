// Notices about the connection: that it is lost, the cause and length of a wait, and the result. Clock and timer are handed in.

import type { ClientState } from "sandbox-stdio/core";
import type { Notices } from "../base/notices.ts";
import { formatSeconds, NoticeSchedule, SLOW_MS } from "../base/slow-notice.ts";

export type ReportClock = {
  /** Milliseconds since the start of this program. */
  now(): number;
  setTimer(ms: number, callback: () => void): () => void;
};

/** A start that took longer than this was slowed down by a busy machine. */
const SLOW_START_MS = 1_000;

export class ConnectionReport {
  readonly #notices: Notices;
  readonly #clock: ReportClock;
  #isAttached = false;
  #lostAtMs: number | undefined;
  #hasReportedStart = false;
  /** Start of the current wait. The first one began with the program. */
  #sinceMs = 0;
  readonly #startMs: number;
  #stage = "waiting for the server";
  #next: NoticeSchedule | undefined;
  #state: ClientState | undefined;
  /** Why the last attempt failed. */
  #reason: string | undefined;
  /** The reason reported last in this wait. */
  #reportedReason: string | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(notices: Notices, clock: ReportClock) {
    this.#notices = notices;
    this.#clock = clock;
    this.#startMs = clock.now();
  }

  /** Sets what the pending connection waits for. */
  stage(text: string): void {
    this.#stage = text;
  }

  state(state: ClientState): void {
    this.#state = state;
    if (state.phase === "attached" || state.phase === "ended") this.#waited();
    else {
      // A wait spans several attempts.
      if (this.#isAttached && this.#next === undefined) this.#sinceMs = this.#clock.now();
      this.#wait();
    }
    switch (state.phase) {
      case "connecting":
        if (state.attempt > 0) this.#notices.detail(`connecting, attempt ${state.attempt + 1}`);
        return;
      case "starting":
        if (!this.#hasReportedStart) this.#notices.say("the sandbox is starting");
        this.#hasReportedStart = true;
        this.#next?.shown("the sandbox is still starting false", this.#clock.now());
        return;
      case "attached": {
        const { hello } = state;
        const size = hello.tty ? `a PTY of ${hello.cols} by ${hello.rows}` : "pipes";
        this.#notices.detail(`attached to session ${hello.session} of sandbox ${hello.sandbox}, ${size}`);
        if (hello.approximate === true) this.#notices.detail("the screen may be inexact until the program redraws it");
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

  /** The server has not responded for 3 s, or responds again. */
  quiet(isQuiet: boolean): void {
    this.#notices.say(isQuiet ? "no response for 3 s: the network may be down" : "the server responds again");
  }

  #lost(reason: string, retryAtMs: number | undefined): void {
    this.#reason = reason;
    if (retryAtMs === undefined) {
      this.#waited();
      this.#notices.say(`the session is asleep (${reason}); press a key to wake it`);
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
      this.#next = new NoticeSchedule(this.#sinceMs);
      this.#setTimer(this.#next.firstInMs(this.#clock.now()));
    }
  }

  #setTimer(ms: number): void {
    this.#cancelTimer = this.#clock.setTimer(ms, () => {
      this.#report();
      this.#setTimer(SLOW_MS);
    });
  }

  #waited(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#next = undefined;
    this.#reportedReason = undefined;
  }

  /** Reports the cause and length of the wait. */
  #report(): void {
    const state = this.#state;
    if (state === undefined || this.#next === undefined) return;
    const nowMs = this.#clock.now();
    const leftMs = state.phase === "waiting" && state.retryAtMs !== undefined ? state.retryAtMs - nowMs : 0;
    const isLong = leftMs > SLOW_MS;
    // The end of a reported pause is no news.
    if (state.phase === "waiting" && !isLong && this.#reportedReason === this.#reason) return;
    const cause = this.#cause(state, isLong);
    if (!this.#next.isDue(`${cause} ${isLong}`, nowMs)) return;
    const when = isLong ? `: trying again in ${Math.ceil(leftMs / 1000)} s` : ` (${this.#span(nowMs)})`;
    this.#reportedReason = this.#reason;
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
    const span = `${formatSeconds(nowMs - this.#sinceMs)} so far`;
    const isSlow = this.#sinceMs === 0 && this.#startMs >= SLOW_START_MS;
    return isSlow ? `${span}; ${formatSeconds(this.#startMs)} of it to start on this busy machine` : span;
  }
}
