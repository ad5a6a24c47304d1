// A request in, an identity out: host, credential, origin, token, in this order.
// The caller passes the identity on, and nothing else of the client.

import { defined } from "sandbox-stdio/core";
import { AuthFault } from "../refusal/fault.ts";
import { type CredentialSource, findCredential } from "./credentials.ts";
import { hasAnySandboxScope, type Identity, parseScopes } from "./identity.ts";
import { needsOrigin, requireAllowedHost, requirePublicOrigin } from "./origin.ts";
import { openSession, type Session, sessionCookieName } from "./session.ts";
import type { AuthSettings } from "./settings.ts";
import { verifyToken } from "./verify-token.ts";

export interface Authenticated {
  readonly identity: Identity;
  readonly source: CredentialSource;
  /** The verified text: the token itself, also where a cookie brought it. */
  readonly token: string;
}

const NO_ORIGINS: ReadonlySet<string> = new Set();

/**
 * Authenticates one request. Says who it is, not what they may do: see `requireScope`; nor whether that was revoked: routes
 * ask `identify`.
 * @param cookieOrigins Origins of the pages that may use the cookie, beside our own.
 * @throws {AuthFault}
 */
export async function authenticate(
  request: Request,
  settings: AuthSettings,
  cookieOrigins = NO_ORIGINS,
): Promise<Authenticated> {
  requireAllowedHost(request, settings);
  const credential = findCredential(request, sessionCookieName(settings));
  if (credential === undefined) throw new AuthFault("no_token", "Log in, or give a token");
  const { source, value } = credential;
  if (source !== "cookie") return { source, token: value, identity: await verifyToken(value, settings) };
  if (needsOrigin(request)) requirePublicOrigin(request, settings, cookieOrigins);
  const session = await openSession(value, settings);
  return { source, token: session.accessToken, identity: await identityOfSession(session, settings) };
}

/** The person that a cookie's session speaks for. @throws {AuthFault} */
export async function identityOfSession(session: Session, settings: AuthSettings): Promise<Identity> {
  // An ID token carries no scopes: the scopes that the issuer granted at login stand in for them, and only then the default.
  const granted = parseScopes(session.scope);
  const defaultScopes = hasAnySandboxScope(granted) ? granted : (settings.defaultScopes ?? []);
  const identity = await verifyToken(session.accessToken, { ...settings, defaultScopes });
  const { id: loginId, email, name } = session;
  return { ...defined({ email, name }), ...identity, loginId };
}
