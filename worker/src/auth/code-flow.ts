// The authorization code flow with PKCE, as the issuer's client: the request, the exchange of the code, and the cookie that renews a
// login. The issuer's answer is unverified.

import { defined } from "sandbox-stdio/core";
import { toBase64Url } from "../base/base64url.ts";
import { AuthFault } from "../refusal/fault.ts";
import { askIssuer } from "./ask-issuer.ts";
import { cookieName, setCookie } from "./cookie.ts";
import { seal, unseal } from "./envelope.ts";
import type { PendingLogin } from "./pending-login.ts";
import type { AuthSettings } from "./settings.ts";

export interface IssuedTokens {
  readonly accessToken: string;
  readonly idToken?: string;
  /** The scopes that were granted, where the issuer says so. */
  readonly scope?: string;
  /** The token that can be exchanged for the next tokens. */
  readonly refreshToken?: string;
}

/** 256 random bits, as text for URLs. */
export function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The address at the issuer that a browser is sent to. */
export async function authorizeUrl(pending: PendingLogin, settings: AuthSettings): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier));
  const url = new URL(settings.authorizeUri);
  url.searchParams.set("response_type", "code");
  url.searchParams.set("client_id", clientId(settings));
  url.searchParams.set("redirect_uri", redirectUri(settings));
  url.searchParams.set("scope", settings.loginScope);
  url.searchParams.set("state", pending.state);
  url.searchParams.set("nonce", pending.nonce);
  url.searchParams.set("code_challenge", toBase64Url(new Uint8Array(digest)));
  url.searchParams.set("code_challenge_method", "S256");
  return url.href;
}

/**
 * Exchanges a code for tokens.
 * @throws {AuthFault} `login_failed` when the issuer refuses, `issuer_unreachable` when it does not answer.
 */
export function exchangeCode(code: string, verifier: string, settings: AuthSettings): Promise<IssuedTokens> {
  return tokensFor(settings, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri(settings),
    client_id: clientId(settings),
    code_verifier: verifier,
  });
}

/** Exchanges a refresh token, which many issuers take once, for the next tokens. @throws {AuthFault} As `exchangeCode`. */
export function refreshTokens(refreshToken: string, settings: AuthSettings): Promise<IssuedTokens> {
  const client_id = clientId(settings);
  return tokensFor(settings, { grant_type: "refresh_token", refresh_token: refreshToken, client_id });
}

async function tokensFor({ tokenUri }: AuthSettings, form: Record<string, string>): Promise<IssuedTokens> {
  const { status, body } = await askIssuer(tokenUri, form);
  const { access_token, id_token, refresh_token, scope } = body;
  if (status !== 200 || typeof access_token !== "string") {
    throw new AuthFault("login_failed", "The issuer refused the login", { cause: `status ${status}` });
  }
  return {
    accessToken: access_token,
    ...(typeof id_token === "string" && { idToken: id_token }),
    ...(typeof refresh_token === "string" && { refreshToken: refresh_token }),
    ...(typeof scope === "string" && { scope }),
  };
}

/** @throws {AuthFault} `misconfigured` where the browser login is not set up. */
export function clientId(settings: AuthSettings): string {
  if (settings.clientId !== undefined) return settings.clientId;
  throw new AuthFault("misconfigured", "This server is not set up for logins by browser: OAUTH_CLIENT_ID is missing");
}

function redirectUri(settings: AuthSettings): string {
  return `${settings.publicOrigin}/callback`;
}

type RenewalSettings = Pick<AuthSettings, "publicOrigin" | "sessionSecret" | "renewHours">;

export interface Renewal {
  /** Belongs to the login that is renewed. */
  readonly loginId: string;
  readonly userId: string;
  readonly refreshToken: string;
  /** The fields that the issuer does not have to repeat. */
  readonly scope?: string;
  readonly email?: string;
  readonly name?: string;
}

/**
 * The renewal cookie holds the issuer's refresh token, which only this server opens. It opens no session by itself, and ends some
 * hours after its last use. Nothing is stored here.
 */
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
    ...defined({ email, name }),
  };
}

export function endRenewal(settings: Pick<AuthSettings, "publicOrigin">): string {
  return setCookie(renewalCookieName(settings), "", 0, settings.publicOrigin);
}
