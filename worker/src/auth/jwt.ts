// JSON Web Tokens of one issuer: signature, issuer, audience and times. Returns claims, not people.
// Knows nothing of HTTP requests, scopes or tenants.

import { hash } from "node:crypto";
import { type CryptoKey, createRemoteJWKSet, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from "jose";
import { AuthFault } from "../refusal/fault.ts";
import { requireAllowedClient } from "./identity.ts";

export interface JwtOptions {
  /** Accepted values of `iss`. */
  readonly issuers: readonly string[];
  /** Accepted values of `aud`; and of `client_id` and `azp` where the token has them. Never empty. */
  readonly audience: readonly string[];
  /** Accepted as `aud` too, of a token that names its client. */
  readonly resource?: string | undefined;
  readonly jwksUri: string;
}

/** Clocks of two machines differ: a token may be shown so long before it begins. It never lives past its expiry. */
const CLOCK_TOLERANCE_SECONDS = 5;
/** Other kinds of JWT from the same issuer (a logout token, say) are not tokens to log in with. */
const TOKEN_TYPES: ReadonlySet<string> = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/** A token whose signature, issuer, audience and beginning were found good, and the key that showed it. */
type Verified = { readonly payload: JWTPayload; readonly header: JWTHeaderParameters; readonly key: CryptoKey };

/** About 2 MB. When it is full the oldest goes: that token is verified anew. */
const MAX_VERIFIED = 1000;
/** By the digest of the token and all that it was held against: no usable token lies in memory. */
const verified = new Map<string, Verified>();

/**
 * Verifies a JWT by the issuer's published keys. Keys are fetched at most every 30 s for an unknown `kid`, and
 * again after 10 minutes: a key that the issuer withdraws is refused no later than that. A signature is not computed again
 * while the same key is published; the key and the token's end are looked at each time.
 * @throws {AuthFault}
 */
export async function verifyJwt(token: string, options: JwtOptions): Promise<JWTPayload> {
  const { issuers, audience, resource, jwksUri } = options;
  const digest = hash("sha256", JSON.stringify([jwksUri, issuers, audience, resource, token]));
  const keys = keysAt(jwksUri);
  try {
    const known = verified.get(digest);
    const isSame = known !== undefined && (await keys(known.header)) === known.key;
    const { payload, header, key } = isSame ? known : await verifyAnew(token, options, keys);
    requireUnexpired(payload);
    if (!isSame) remember(digest, { payload, header, key });
    return payload;
  } catch (error) {
    verified.delete(digest);
    throw faultOf(error);
  }
}

async function verifyAnew(token: string, { issuers, audience, resource }: JwtOptions, keys: Keys): Promise<Verified> {
  const { payload, protectedHeader, key } = await jwtVerify(token, keys, {
    issuer: [...issuers],
    audience: resource === undefined ? [...audience] : [...audience, resource],
    algorithms: ["RS256"],
    requiredClaims: ["sub", "exp"],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  });
  const { typ } = protectedHeader;
  if (typ !== undefined && !TOKEN_TYPES.has(typ.toLowerCase())) {
    throw new AuthFault("malformed", "A token of this type can't be used to log in");
  }
  requireAllowedClient(payload, audience);
  return { payload, header: protectedHeader, key };
}

/** A connection ends at this second, too: what attaching refuses, no other way takes. */
function requireUnexpired({ exp }: JWTPayload): void {
  if (exp === undefined || exp * 1000 <= Date.now()) throw expired();
}

function remember(digest: string, token: Verified): void {
  verified.delete(digest);
  const [oldest] = verified.keys();
  if (verified.size >= MAX_VERIFIED && oldest !== undefined) verified.delete(oldest);
  verified.set(digest, token);
}

// One key set for each address and isolate: it holds the fetched keys. Addresses come from settings, so few.
type Keys = (header: JWTHeaderParameters) => Promise<CryptoKey>;
const keySets = new Map<string, Keys>();

function keysAt(uri: string): Keys {
  const known = keySets.get(uri);
  if (known) return known;
  const fetchKey = createRemoteJWKSet(new URL(uri));
  const keys: Keys = async (header) => {
    try {
      return await fetchKey(header);
    } catch (error) {
      // If no published key fits, the token is at fault; any other error means that the keys can't be fetched.
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw new AuthFault("issuer_unreachable", "The issuer's keys can't be fetched, try again", { cause: error });
    }
  };
  keySets.set(uri, keys);
  return keys;
}

const expired = () => new AuthFault("expired", "The token has expired");

function faultOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return expired();
  if (error instanceof errors.JWTClaimValidationFailed) return faultOfClaim(error);
  if (
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  ) {
    return new AuthFault("bad_signature", "The token is not signed by its issuer", { cause: error });
  }
  if (error instanceof errors.JOSEError) return new AuthFault("malformed", "The token can't be read", { cause: error });
  return error; // an AuthFault of keysAt, or our bug
}

function faultOfClaim({ claim, reason }: errors.JWTClaimValidationFailed): AuthFault {
  if (claim === "iss") return new AuthFault("wrong_issuer", "The token is from another issuer");
  if (claim === "aud") return new AuthFault("wrong_audience", "The token was made for another application");
  if (claim === "nbf" && reason === "check_failed") return new AuthFault("not_yet_valid", "The token is not valid yet");
  return new AuthFault("missing_claim", `The token has no valid ${claim}`);
}
