// JSON Web Tokens of one issuer: signature, issuer, audience and times. Returns claims, not people.
// Knows nothing of HTTP requests, scopes or tenants.

import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { requireAllowedClient } from "./audience.ts";
import { AuthFault } from "./fault.ts";

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

/**
 * Verifies a JWT by the issuer's published keys. Keys are fetched at most every 30 s for an unknown `kid`, and
 * again after 10 minutes: a key that the issuer withdraws is refused no later than that.
 * @throws {AuthFault}
 */
export async function verifyJwt(token: string, options: JwtOptions): Promise<JWTPayload> {
  const { payload, protectedHeader } = await jwtVerify(token, keysAt(options.jwksUri), {
    issuer: [...options.issuers],
    audience: options.resource === undefined ? [...options.audience] : [...options.audience, options.resource],
    algorithms: ["RS256"],
    requiredClaims: ["sub", "exp"],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  }).catch((error: unknown) => {
    throw faultOf(error);
  });
  // A connection ends at this second, too: what attaching refuses, no other way takes.
  if (payload.exp === undefined || payload.exp * 1000 <= Date.now()) throw expired();
  const { typ } = protectedHeader;
  if (typ !== undefined && !TOKEN_TYPES.has(typ.toLowerCase())) {
    throw new AuthFault("malformed", "This kind of token is not one to log in with");
  }
  requireAllowedClient(payload, options.audience);
  return payload;
}

// One key set for each address and isolate: it holds the fetched keys. Addresses come from settings, so few.
const keySets = new Map<string, JWTVerifyGetKey>();

function keysAt(uri: string): JWTVerifyGetKey {
  const known = keySets.get(uri);
  if (known) return known;
  const fetchKey = createRemoteJWKSet(new URL(uri));
  const keys: JWTVerifyGetKey = async (header, token) => {
    try {
      return await fetchKey(header, token);
    } catch (error) {
      // That no published key fits is the token's fault; anything else means that the keys can't be had.
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
