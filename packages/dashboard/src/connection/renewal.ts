// Keeps a connection beyond the end of its token: a login renewed here or in another tab is sent to the session. A session that ended
// for want of a login reconnects after one. No React.

import { CLOSE, type ClientState } from "sandbox-stdio/core";
import type { BrowserConnection } from "./browser-connection.ts";

/** A fresh token, or a ticket made with one; undefined: not yet. */
export type FreshCredential = () => Promise<string | undefined>;

export type RenewalEvents = {
  /** The token ends in `seconds`, and the person must log in. */
  needed(seconds: number): void;
  /** A fresh token was sent. */
  renewed(): void;
};

const RETRY_MS = 5_000;

export class Renewal {
  readonly #connection: BrowserConnection;
  readonly #fresh: FreshCredential;
  readonly #events: RenewalEvents;
  readonly #stopWatching = new AbortController();
  #timer = 0;
  #isTrying = false;

  constructor(connection: BrowserConnection, fresh: FreshCredential, events: RenewalEvents) {
    this.#connection = connection;
    this.#fresh = fresh;
    this.#events = events;
    connection.subscribe({
      message: (message) => {
        if (message.type === "expiring") void this.#begin(message.seconds);
      },
      state: (state) => {
        // A new connection uses the credentials that are then current.
        this.#stop();
        // Without an earlier greeting the server would refuse again.
        if (needsLogin(state) && connection.client?.hello !== undefined) void this.#begin(undefined);
      },
    });
    const { signal } = this.#stopWatching;
    const retry = () => this.#timer !== 0 && document.visibilityState === "visible" && void this.#try();
    window.addEventListener("focus", retry, { signal });
    document.addEventListener("visibilitychange", retry, { signal });
  }

  dispose(): void {
    this.#stop();
    this.#stopWatching.abort();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = 0;
  }

  async #begin(seconds: number | undefined): Promise<void> {
    this.#stop();
    const beganMs = performance.now();
    this.#timer = window.setInterval(() => void this.#try(), RETRY_MS);
    // The person may have logged out on purpose: don't ask at once.
    if (seconds === undefined) return;
    await this.#try();
    if (this.#timer === 0) return;
    this.#events.needed(seconds - (performance.now() - beganMs) / 1000);
  }

  async #try(): Promise<void> {
    const { state } = this.#connection;
    const hasEnded = state.phase === "ended";
    // A hidden page does not reconnect an ended session.
    if (this.#isTrying || (hasEnded && document.visibilityState !== "visible")) return;
    this.#isTrying = true;
    const token = await this.#fresh();
    this.#isTrying = false;
    if (token === undefined || this.#timer === 0 || this.#connection.state !== state) return;
    this.#stop();
    if (hasEnded) this.#connection.retryNow();
    else if (this.#connection.client?.send({ type: "auth", token }) === true) this.#events.renewed();
  }
}

function needsLogin(state: ClientState): boolean {
  return state.phase === "ended" && state.end.kind === "refused" && state.end.code === CLOSE.unauthenticated;
}
