// The state of a login between sending a browser to the issuer and its coming back: kept by that very
// browser, encrypted, so that a login can only be finished in the browser that began it.

import { cookieName, setCookie } from "./cookie.ts";
import { seal, unseal } from "./envelope.ts";
import type { AuthSettings } from "./settings.ts";

type LoginSettings = Pick<AuthSettings, "publicOrigin" | "sessionSecret">;

export interface PendingLogin {
  /** Comes back in the address: ties the answer to this browser. */
  readonly state: string;
  /** Comes back in the ID token: ties that token to this login. */
  readonly nonce: string;
  /** The secret half of PKCE. */
  readonly verifier: string;
  /** An absolute URL on the public origin. */
  readonly returnTo: string;
}

const LOGIN_MINUTES = 10;

export function loginCookieName({ publicOrigin }: Pick<AuthSettings, "publicOrigin">): string {
  return cookieName("sbx_login", publicOrigin);
}

/** The `Set-Cookie` value that begins a login. A second login in the same browser replaces the first. */
export async function beginLogin(pending: PendingLogin, settings: LoginSettings): Promise<string> {
  const expiresAt = Date.now() + LOGIN_MINUTES * 60_000;
  const { state, nonce, verifier, returnTo } = pending;
  // userId and accessToken are the two fields that the format insists on.
  const value = await seal(
    { userId: "login", accessToken: state, nonce, verifier, returnTo, expiresAt },
    key(settings),
  );
  return setCookie(loginCookieName(settings), value, LOGIN_MINUTES * 60, settings.publicOrigin);
}

/** The login that the cookie's value holds, or undefined when it is not ours, was changed, or has run out. */
export async function openLogin(value: string, settings: LoginSettings): Promise<PendingLogin | undefined> {
  const fields = await unseal(value, key(settings));
  if (fields === undefined) return undefined;
  const { accessToken: state, nonce, verifier, returnTo } = fields;
  if (typeof nonce !== "string" || typeof verifier !== "string" || typeof returnTo !== "string") return undefined;
  return { state, nonce, verifier, returnTo };
}

/** The `Set-Cookie` value that ends a login: each can come back once. */
export function endLogin(settings: LoginSettings): string {
  return setCookie(loginCookieName(settings), "", 0, settings.publicOrigin);
}

// A separate key: a session's cookie can't pass for a login's, nor a login's for a session's.
function key({ sessionSecret }: LoginSettings): string {
  return `login:${sessionSecret}`;
}
