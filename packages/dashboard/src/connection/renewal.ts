// Keeps a connection past the end of the token that it was opened with: a login that was renewed, here or in another tab, is
// shown to the session. One that has ended for want of a login comes back as soon as there is one. No React.

import { CLOSE, type ClientState } from "sandbox-stdio/core";
import type { BrowserConnection } from "./browser-connection.ts";

/** Something that counts instead of the token that runs out: a fresh token, or a ticket made with one; undefined: not yet. */
export type FreshCredential = () => Promise<string | undefined>;

export type RenewalEvents = {
  /** The token ends in so many seconds, and there is no other yet: a person has to log in. */
  needed(seconds: number): void;
  /** A fresh one has been shown. */
  renewed(): void;
};

const TRY_EVERY_MS = 5_000;

export class Renewal {
  readonly #connection: BrowserConnection;
  readonly #fresh: FreshCredential;
  readonly #events: RenewalEvents;
  readonly #stopWatching = new AbortController();
  #timer = 0;
  #isLooking = false;

  constructor(connection: BrowserConnection, fresh: FreshCredential, events: RenewalEvents) {
    this.#connection = connection;
    this.#fresh = fresh;
    this.#events = events;
    connection.subscribe({
      message: (message) => {
        if (message.type === "expiring") void this.#begin(message.seconds);
      },
      state: (state) => {
        // A connection that is made again shows what is then there.
        this.#stop();
        // Without a greeting before it, the server would refuse the client again.
        if (needsLogin(state) && connection.client?.hello !== undefined) void this.#begin(undefined);
      },
    });
    const { signal } = this.#stopWatching;
    const hurry = () => this.#timer !== 0 && document.visibilityState === "visible" && void this.#look();
    window.addEventListener("focus", hurry, { signal });
    document.addEventListener("visibilitychange", hurry, { signal });
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
    this.#timer = window.setInterval(() => void this.#look(), TRY_EVERY_MS);
    // The login may have been ended on purpose: the page does not question a person who logs out at once.
    if (seconds === undefined) return;
    await this.#look();
    if (this.#timer === 0) return;
    this.#events.needed(seconds - (performance.now() - beganMs) / 1000);
  }

  async #look(): Promise<void> {
    const { state } = this.#connection;
    const hasEnded = state.phase === "ended";
    // No person waits for a session that has ended, in a page out of sight.
    if (this.#isLooking || (hasEnded && document.visibilityState !== "visible")) return;
    this.#isLooking = true;
    const token = await this.#fresh();
    this.#isLooking = false;
    if (token === undefined || this.#timer === 0 || this.#connection.state !== state) return;
    this.#stop();
    if (hasEnded) this.#connection.retryNow();
    else if (this.#connection.client?.send({ type: "auth", token }) === true) this.#events.renewed();
  }
}

function needsLogin(state: ClientState): boolean {
  return state.phase === "ended" && state.end.kind === "refused" && state.end.code === CLOSE.unauthenticated;
}
