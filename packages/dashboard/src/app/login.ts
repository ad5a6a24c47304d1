// Keeps a person's login in this browser going while the page is used, and lets them log in again beside it. No React.

import { fetchMe, type Me, renewLogin } from "./me.ts";

/** A login that ends sooner than this is the one that runs out: the server warns a minute before. */
const WORTH_MS = 90_000;
/** A page out of sight is in use for so long after the last key or click. */
const IN_USE_MS = 30 * 60_000;
/** How long a refusal to renew is believed. */
const PATIENCE_MS = 60_000;
/** Where the window of a login comes back to. */
export const LOGIN_DONE = "?logged-in";

export class Login {
  readonly #lock: LockManager | undefined;
  #lastUseMs = Date.now();
  /** When the server was last asked in vain: it is not asked at every look. */
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  /** @param lock Keeps tabs from renewing at once: a refresh token counts once. undefined where the browser has none. */
  constructor(lock: LockManager | undefined) {
    this.#lock = lock;
    const used = () => {
      this.#lastUseMs = Date.now();
    };
    for (const event of ["pointerdown", "keydown"])
      window.addEventListener(event, used, { capture: true, passive: true });
  }

  /** The person who is logged in, after a renewal if need be: a login that has run out may still be renewed. */
  async now(): Promise<Me> {
    const me = await fetchMe();
    return me.kind === "anonymous" ? this.#renewed(me) : me;
  }

  /** Who is logged in for some time to come; undefined: nobody, or not for long, and it can't be renewed or nobody uses the page. */
  async fresh(): Promise<Extract<Me, { kind: "known" }> | undefined> {
    const me = await fetchMe();
    if (isFresh(me)) return me;
    const best = this.#isInUse ? await this.#renewed(me) : me;
    // An issuer's tokens may never live that long: then a renewed one is as good as there is.
    return isFresh(best) || isLater(best, me) ? best : undefined;
  }

  /** Logs in again in a window of its own. @returns Whether the browser lets one open. */
  open(): boolean {
    const address = `/login?${new URLSearchParams({ return_to: `/${LOGIN_DONE}` })}`;
    return window.open(address, "sbx-login", "popup,width=520,height=680") !== null;
  }

  get #isInUse(): boolean {
    return document.visibilityState === "visible" || Date.now() < this.#lastUseMs + IN_USE_MS;
  }

  async #renewed(before: Me): Promise<Me> {
    if (before.kind === "unreachable" || !before.isRenewable || Date.now() < this.#refusedAtMs + PATIENCE_MS)
      return before;
    const renew = async (): Promise<Me> => {
      // Another tab may have been faster.
      const me = this.#lock === undefined ? before : await fetchMe();
      if (isFresh(me)) return me;
      if (await renewLogin()) return fetchMe();
      // The page that stood here before a reload may have been faster, too: its renewal goes on without it.
      const now = await fetchMe();
      if (!isFresh(now) && !isLater(now, me)) this.#refusedAtMs = Date.now();
      return now;
    };
    return this.#lock === undefined ? renew() : this.#lock.request("sbx.login", renew);
  }
}

function isFresh(me: Me): me is Extract<Me, { kind: "known" }> {
  return me.kind === "known" && me.expiresAtMs > Date.now() + WORTH_MS;
}

function isLater(me: Me, before: Me): me is Extract<Me, { kind: "known" }> {
  return me.kind === "known" && me.expiresAtMs > (before.kind === "known" ? before.expiresAtMs : Date.now());
}
