// Keeps a login going while the page is used, and logs in again in a window beside it. No React.

import { fetchMe, type Me, renewLogin } from "./me.ts";

/** A login that ends sooner is renewed: the server warns a minute before. */
const FRESH_MS = 90_000;
/** How long a hidden page counts as used after the last key or click. */
const IN_USE_MS = 30 * 60_000;
/** Pause after a refused renewal. */
const RETRY_MS = 60_000;
/** The query of the address to which the login window returns. */
export const LOGIN_DONE = "?logged-in";

export class Login {
  readonly #lock: LockManager | undefined;
  #lastUseMs = Date.now();
  /** Time of the last refused renewal. */
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  /** @param lock Lets one tab renew at a time, since a refresh token counts once. undefined if the browser has no locks. */
  constructor(lock: LockManager | undefined) {
    this.#lock = lock;
    const used = () => {
      this.#lastUseMs = Date.now();
    };
    for (const event of ["pointerdown", "keydown"])
      window.addEventListener(event, used, { capture: true, passive: true });
  }

  /** The logged-in person, after a renewal if the login has expired. */
  async now(): Promise<Me> {
    const me = await fetchMe();
    return me.kind === "anonymous" ? this.#renewed(me) : me;
  }

  /** The person if the login lasts some time; undefined if it ends soon and can't be renewed, or nobody uses the page. */
  async fresh(): Promise<Extract<Me, { kind: "known" }> | undefined> {
    const me = await fetchMe();
    if (isFresh(me)) return me;
    const best = this.#isInUse ? await this.#renewed(me) : me;
    // The issuer's tokens may be shorter-lived: then a renewed one is the best available.
    return isFresh(best) || isLater(best, me) ? best : undefined;
  }

  /** Opens a login window. @returns Whether the browser allowed it. */
  open(): boolean {
    const address = `/login?${new URLSearchParams({ return_to: `/${LOGIN_DONE}` })}`;
    return window.open(address, "sbx-login", "popup,width=520,height=680") !== null;
  }

  get #isInUse(): boolean {
    return document.visibilityState === "visible" || Date.now() < this.#lastUseMs + IN_USE_MS;
  }

  async #renewed(before: Me): Promise<Me> {
    if (before.kind === "unreachable" || !before.isRenewable || Date.now() < this.#refusedAtMs + RETRY_MS)
      return before;
    const renew = async (): Promise<Me> => {
      // Another tab may have renewed it meanwhile.
      const me = this.#lock === undefined ? before : await fetchMe();
      if (isFresh(me)) return me;
      const isRenewed = await renewLogin();
      // A renewal that the page started before its reload may have succeeded.
      const now = await fetchMe();
      if (isRenewed === false && !isFresh(now) && !isLater(now, me)) this.#refusedAtMs = Date.now();
      return now;
    };
    return this.#lock === undefined ? renew() : this.#lock.request("sbx.login", renew);
  }
}

function isFresh(me: Me): me is Extract<Me, { kind: "known" }> {
  return me.kind === "known" && me.expiresAtMs > Date.now() + FRESH_MS;
}

function isLater(me: Me, before: Me): me is Extract<Me, { kind: "known" }> {
  return me.kind === "known" && me.expiresAtMs > (before.kind === "known" ? before.expiresAtMs : Date.now());
}
