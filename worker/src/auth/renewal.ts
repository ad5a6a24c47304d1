// The cookie that renews a login: the issuer's refresh token, which only this server opens. It opens no session by itself, and
// ends some hours after it was last used. Nothing is stored here.

import { AuthFault } from "../refusal/fault.ts";
import { cookieName, setCookie } from "./cookie.ts";
import { seal, unseal } from "./envelope.ts";
import type { AuthSettings } from "./settings.ts";

type RenewalSettings = Pick<AuthSettings, "publicOrigin" | "sessionSecret" | "renewHours">;

export interface Renewal {
  /** Of the login that it renews. */
  readonly loginId: string;
  readonly userId: string;
  readonly refreshToken: string;
  /** The fields that the issuer does not have to repeat. */
  readonly scope?: string;
  readonly email?: string;
  readonly name?: string;
}

export function renewalCookieName({ publicOrigin }: Pick<AuthSettings, "publicOrigin">): string {
  return cookieName("sbx_renewal", publicOrigin);
}

/** Until when a renewal that is begun now, or any before it, can be used; in milliseconds since 1970. */
export function renewableUntilMs({ renewHours }: Pick<AuthSettings, "renewHours">): number {
  return Date.now() + renewHours * 3_600_000;
}

/** @returns The `Set-Cookie` value; undefined where logins are not renewed, or the refresh token is too long for a cookie. */
export async function beginRenewal(renewal: Renewal, settings: RenewalSettings): Promise<string | undefined> {
  if (settings.renewHours === 0) return undefined;
  const { refreshToken, ...rest } = renewal;
  // Never opened as a session, which has an id, nor a session as this.
  const fields = { ...rest, accessToken: refreshToken, expiresAt: renewableUntilMs(settings) };
  const value = await seal(fields, settings.sessionSecret);
  try {
    return setCookie(renewalCookieName(settings), value, settings.renewHours * 3600, settings.publicOrigin);
  } catch (error) {
    if (error instanceof AuthFault) return undefined;
    throw error;
  }
}

/** Opens the cookie's value; undefined when it is not ours, was changed, or has run out. */
export async function openRenewal(value: string, settings: RenewalSettings): Promise<Renewal | undefined> {
  const fields = await unseal(value, settings.sessionSecret);
  if (typeof fields?.loginId !== "string") return undefined;
  const { loginId, userId, accessToken: refreshToken, scope, email, name } = fields;
  return {
    loginId,
    userId,
    refreshToken,
    ...(typeof scope === "string" && { scope }),
    ...(email !== undefined && { email }),
    ...(name !== undefined && { name }),
  };
}

export function endRenewal(settings: Pick<AuthSettings, "publicOrigin">): string {
  return setCookie(renewalCookieName(settings), "", 0, settings.publicOrigin);
}
