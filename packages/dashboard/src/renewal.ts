// Keeps a connection past the end of the token that it was opened with: where the person has logged in again meanwhile, in
// another tab perhaps, that is shown to the session. No React.

import type { BrowserConnection } from "./browser-connection.ts";

/** Something that counts instead of the token that runs out: a fresh token, or a ticket made with one; undefined: not yet. */
export type FreshCredential = () => Promise<string | undefined>;

const TRY_EVERY_MS = 5_000;

export class Renewal {
  readonly #connection: BrowserConnection;
  readonly #fresh: FreshCredential;
  readonly #renewed: () => void;
  #timer = 0;
  #isLooking = false;

  /** @param renewed Called when a fresh one has been shown. */
  constructor(connection: BrowserConnection, fresh: FreshCredential, renewed: () => void) {
    this.#connection = connection;
    this.#fresh = fresh;
    this.#renewed = renewed;
    connection.subscribe({
      message: ({ type }) => type === "expiring" && this.#begin(),
      // A connection that ends needs no more; one that is made again shows what is then there.
      state: () => this.stop(),
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = 0;
  }

  #begin(): void {
    this.stop();
    this.#timer = window.setInterval(() => void this.#look(), TRY_EVERY_MS);
    void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const token = await this.#fresh();
    this.#isLooking = false;
    if (token === undefined || this.#timer === 0) return;
    this.stop();
    if (this.#connection.client?.send({ type: "auth", token }) === true) this.#renewed();
  }
}
