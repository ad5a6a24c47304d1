// The tokens of the local issuer: their claims, and how they are signed. Knows no HTTP; shared by the issuer, by
// `npm run token` and by tests, which all mint with the key in the run's directory.
import { createHash, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import type { SigningKey } from "./keys.ts";

/** The OAuth clients of this project. A token's `aud` is the client it was issued to. */
export const CLI_CLIENT_ID = "sbx-stdio-cli";
export const WEB_CLIENT_ID = "sbx-stdio-web";

/** The scope of a token if its caller names none: attach to sessions, create and drive them. */
export const DEFAULT_TOKEN_SCOPE = "sandbox:connect sandbox:exec";

/** The person who signs in. `org` is absent for a person without an organisation. */
export interface Person {
  readonly sub: string;
  readonly org?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

export interface AccessTokenClaims extends Person {
  /** The value of `iss`: an absolute URL without a trailing slash. */
  readonly issuer: string;
  readonly audience: string;
  /** The client that it was issued to; absent: the audience. Empty: the claim is left out. */
  readonly client?: string | undefined;
  /** Space separated. Empty: the claim is left out. */
  readonly scope: string;
  /** Seconds since 1970, as JWTs count. */
  readonly issuedAt: number;
  /** Seconds from `issuedAt`. Zero or negative makes a token that has already expired. */
  readonly lifetime: number;
}

/** The claims that say who a person is, with the name and address that a person without one gets. */
export function personClaims(person: Person): Record<string, string> {
  const { sub, org } = person;
  const claims: Record<string, string> = {
    sub,
    name: person.name ?? sub.charAt(0).toUpperCase() + sub.slice(1),
    email: person.email ?? (sub.includes("@") ? sub : `${sub}@example.test`),
  };
  if (org !== undefined && org !== "") claims.org_id = org;
  return claims;
}

/** Signs a JWT access token. */
export function signAccessToken(key: SigningKey, claims: AccessTokenClaims): Promise<string> {
  const scope = claims.scope === "" ? {} : { scope: claims.scope };
  const client = claims.client ?? claims.audience;
  return sign(key, { ...personClaims(claims), ...(client === "" ? {} : { client_id: client }), ...scope }, claims);
}

/** Signs an OpenID id_token for the same sign-in as `accessToken`. */
export function signIdToken(
  key: SigningKey,
  claims: AccessTokenClaims,
  accessToken: string,
  nonce: string | undefined,
): Promise<string> {
  const half = createHash("sha256").update(accessToken).digest().subarray(0, 16);
  const extra = nonce === undefined ? {} : { nonce };
  return sign(key, { ...personClaims(claims), ...extra, at_hash: half.toString("base64url") }, claims);
}

function sign(key: SigningKey, payload: Record<string, string>, claims: AccessTokenClaims): Promise<string> {
  return new SignJWT(payload)
    .setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "JWT" })
    .setIssuer(claims.issuer)
    .setAudience(claims.audience)
    .setIssuedAt(claims.issuedAt)
    .setExpirationTime(claims.issuedAt + claims.lifetime)
    .setJti(randomUUID())
    .sign(key.privateKey);
}
