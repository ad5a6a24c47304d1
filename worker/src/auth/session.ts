// The browser's session: its token in a cookie that only this server opens. Nothing is stored here.
// Knows nothing of how the token was got, nor whether it still holds.

import { defined } from "sandbox-stdio/core";
import { AuthFault } from "../refusal/fault.ts";
import { cookieName, setCookie } from "./cookie.ts";
import { seal, unseal } from "./envelope.ts";
import type { AuthSettings } from "./settings.ts";

type SessionSettings = Pick<AuthSettings, "publicOrigin" | "sessionSecret">;

export interface Session {
  /** Id of this login. Logging out ends it for every copy of the cookie. */
  readonly id: string;
  readonly userId: string;
  /** The access token, or the ID token where the access token is opaque. Verified on each use. */
  readonly accessToken: string;
  /** Milliseconds since 1970; the token's own end. */
  readonly expiresAt: number;
  /** The scopes that the issuer granted at login, space separated. */
  readonly scope?: string;
  readonly email?: string;
  readonly name?: string;
}

export function sessionCookieName({ publicOrigin }: Pick<AuthSettings, "publicOrigin">): string {
  return cookieName("sbx_session", publicOrigin);
}

/**
 * The `Set-Cookie` value that begins a session, or goes on with the one of the same id.
 * @throws {AuthFault} `login_failed` when the token is too long for a cookie.
 */
export async function beginSession(
  session: Omit<Session, "id"> & Partial<Session>,
  settings: SessionSettings,
): Promise<string> {
  const value = await seal({ id: crypto.randomUUID(), ...session }, settings.sessionSecret);
  const maxAgeSeconds = Math.max(0, Math.floor((session.expiresAt - Date.now()) / 1000));
  return setCookie(sessionCookieName(settings), value, maxAgeSeconds, settings.publicOrigin);
}

/**
 * Opens the session cookie's value.
 * @throws {AuthFault} `bad_session` when it is not ours, was changed, or has run out.
 */
export async function openSession(value: string, settings: SessionSettings): Promise<Session> {
  const fields = await unseal(value, settings.sessionSecret);
  // One without an id, of an earlier version, could not be ended.
  if (typeof fields?.id !== "string") throw new AuthFault("bad_session", "The session has ended, log in again");
  const { id, userId, accessToken, expiresAt, scope, email, name } = fields;
  return {
    id,
    userId,
    accessToken,
    expiresAt,
    ...(typeof scope === "string" && { scope }),
    ...defined({ email, name }),
  };
}

/** The `Set-Cookie` value that ends a session. */
export function endSession(settings: SessionSettings): string {
  return setCookie(sessionCookieName(settings), "", 0, settings.publicOrigin);
}
