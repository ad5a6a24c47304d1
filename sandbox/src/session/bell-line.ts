// The way to session objects that have gone: the address that is called, and whether anybody is there. That is found out by a call for
// nobody, since what passes a container's calls on may not be there yet, or not at all.

import { request as openRequest } from "node:http";
import { request as openSecureRequest } from "node:https";
import { log } from "../base/log.ts";

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

  /**
   * Not by fetch(): that takes a proxy from the environment, which would get the secret. Nor does this follow a redirect.
   * @returns The status of the answer. @throws {Error} If there is none.
   */
  call(whom: { readonly session: string; readonly incarnation: string } | Record<string, never>): Promise<number> {
    const { url, token } = this.#settings;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const asked = (url.startsWith("https:") ? openSecureRequest : openRequest)(url, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      agent: false,
    });
    const timer = setTimeout(() => {
      reject(new Error("no answer in time"));
      asked.destroy();
    }, PATIENCE_MS);
    asked.once("response", (answer) => {
      answer.once("end", () => resolve(answer.statusCode ?? 0)).once("error", reject);
      answer.resume();
    });
    asked.once("error", reject);
    asked.end(JSON.stringify(whom));
    return promise.finally(() => clearTimeout(timer));
  }

  async #try(pauseMs: number): Promise<void> {
    try {
      this.#isOpen = (await this.call({})) === NOBODY_ASKED;
    } catch (error) {
      log.debug("session objects can't be called yet:", error instanceof Error ? error.message : error);
    }
    if (this.#isOpen) {
      log.debug("session objects can be called");
      this.#opened();
    } else setTimeout(() => void this.#try(Math.min(MOST_PAUSE_MS, pauseMs * 2)), pauseMs).unref();
  }
}
