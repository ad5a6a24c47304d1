// The one door: a token text becomes an identity, or a fault says why not.
// oauth.do 0.3.3 has no verifyToken of its own; a later one can take this file's place.

import { AuthFault } from "../refusal/fault.ts";
import { type Claims, type Identity, type IdentityOptions, identityFrom, withEnd } from "./identity.ts";
import { introspect } from "./introspection.ts";
import { verifyJwt } from "./jwt.ts";
import { isJwtShaped, MAX_TOKEN_CHARACTERS, OPAQUE_SHAPE } from "./token-shape.ts";

export interface VerifyOptions extends IdentityOptions {
  /** Exact. `https://id.org.ai` also admits the aliases under which it signs. */
  readonly issuer: string;
  /** The issuer of the identities. Default: `issuer`. */
  readonly tenantIssuer?: string;
  /** The clients and audiences whose tokens are accepted. Empty: every token is refused. */
  readonly audience: readonly string[];
  /** This server as an OAuth resource (RFC 8707): accepted as `aud` of a token that names one of those clients. */
  readonly resource?: string;
  /** Default: the issuer + `/.well-known/jwks.json`. */
  readonly jwksUri?: string;
  /** Default: the issuer + `/oauth/introspect`. */
  readonly introspectionUri?: string;
}

/** The same identity provider by its present and former names; `COMPATIBLE_AUTH_ISSUERS` of id.org.ai 0.2.8. */
const ID_ORG_AI_ISSUERS = ["https://id.org.ai", "https://oauth.do", "https://auth.apis.do"] as const;

/**
 * Verifies a token of either kind, anew on each call: a JWT by the issuer's keys, an opaque `at_…` by asking
 * the issuer. An answer is believed for up to 60 s, never past the expiry it names.
 * @throws {AuthFault} One of the 401s, `no_tenant` (403), `issuer_unreachable` or `misconfigured` (503).
 */
export async function verifyToken(token: string, options: VerifyOptions): Promise<Identity> {
  const { audience, resource } = options;
  if (audience.length === 0) {
    throw new AuthFault("misconfigured", "This server is not set up: the list of accepted clients is empty");
  }
  const base = options.issuer.replace(/\/$/, "");
  const identity = (claims: Claims) =>
    withEnd(identityFrom(claims, { ...options, issuer: options.tenantIssuer ?? options.issuer }));
  const issuers = acceptedIssuers(options.issuer);
  if (token.length <= MAX_TOKEN_CHARACTERS) {
    if (isJwtShaped(token)) {
      const jwksUri = options.jwksUri ?? `${base}/.well-known/jwks.json`;
      return identity(await verifyJwt(token, { issuers, audience, resource, jwksUri }));
    }
    if (OPAQUE_SHAPE.test(token)) {
      const introspectionUri = options.introspectionUri ?? `${base}/oauth/introspect`;
      const { claims, believedUntilMs } = await introspect(token, { issuers, audience, resource, introspectionUri });
      return { ...identity(claims), opaque: { token, believedUntilMs } };
    }
  }
  throw new AuthFault("malformed", "The token can't be read");
}

/** The values of `iss` that stand for a configured issuer. */
export function acceptedIssuers(issuer: string): readonly string[] {
  return issuer === ID_ORG_AI_ISSUERS[0] ? ID_ORG_AI_ISSUERS : [issuer];
}
