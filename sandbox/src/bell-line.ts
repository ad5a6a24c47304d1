// The way to session objects that have gone: the address that is called, and whether anybody is there. That is found out by a call for
// nobody, since what passes a container's calls on may not be there yet, or not at all.

import { log } from "./log.ts";

/** The address of the call, and the token that is shown there. */
export type BellSettings = { readonly url: string; readonly token: string };

const PATIENCE_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const MOST_PAUSE_MS = 10_000;
/** The answer to a call for nobody, by whoever knows the bridge's secret. */
const NOBODY_ASKED = 204;

export class BellLine {
  readonly #settings: BellSettings;
  readonly #opened: () => void;
  #isOpen = false;

  /** @param opened Called once, when {@link isOpen} becomes true. */
  constructor(settings: BellSettings, opened: () => void) {
    this.#settings = settings;
    this.#opened = opened;
    void this.#try(FIRST_PAUSE_MS);
  }

  /** Whether a call has been answered. It stays so: a call that fails is made again. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** @returns The status of the answer. @throws {Error} If there is none. */
  async call(
    whom: { readonly session: string; readonly incarnation: string } | Record<string, never>,
  ): Promise<number> {
    const { url, token } = this.#settings;
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(whom),
      // A redirect would carry the secret to another address.
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.arrayBuffer();
    return response.status;
  }

  async #try(pauseMs: number): Promise<void> {
    try {
      this.#isOpen = (await this.call({})) === NOBODY_ASKED;
    } catch (error) {
      log.debug("session objects can't be called yet:", error instanceof Error ? error.message : error);
    }
    if (this.#isOpen) this.#opened();
    else setTimeout(() => void this.#try(Math.min(MOST_PAUSE_MS, pauseMs * 2)), pauseMs).unref();
  }
}
