// The one door: a token text becomes an identity, or a fault says why not.
// oauth.do 0.3.3 has no verifyToken of its own; a later one can take this file's place.

import { AuthFault } from "../refusal/fault.ts";
import { askIssuer } from "./ask-issuer.ts";
import {
  type Claims,
  type Identity,
  type IdentityOptions,
  identityFrom,
  requireAllowedClient,
  withEnd,
} from "./identity.ts";
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

interface IntrospectionOptions {
  /** Accepted values of `iss`, where the answer has one. */
  readonly issuers: readonly string[];
  /** Accepted values of `client_id`, which the answer must have, and of `aud` where it has one. Never empty. */
  readonly audience: readonly string[];
  /** Accepted as `aud` too. */
  readonly resource?: string | undefined;
  readonly introspectionUri: string;
}

/** How long the issuer's "active" is believed: a token revoked there is refused here no later than that. */
export const CACHE_TTL_MS = 60_000;
/** About 1 MB with long answers. When it is full the oldest entry goes: that token is asked about again. */
export const CACHE_CAPACITY = 1000;

interface CachedAnswer {
  readonly claims: Claims;
  /** Milliseconds since 1970. */
  readonly goodUntil: number;
}

// The answers, not verdicts: each use checks expiry, issuer and client anew. Keys are hashes, so that no
// usable token lies in memory. Only "active" is kept; an unknown token may become known in a moment.
const answers = new Map<string, CachedAnswer>();

/**
 * The issuer's answer about an opaque token, checked, and until when it is believed.
 * @throws {AuthFault}
 */
async function introspect(
  token: string,
  options: IntrospectionOptions,
): Promise<{ readonly claims: Claims; readonly believedUntilMs: number }> {
  const { claims, goodUntil } = await activeClaims(token, options.introspectionUri);
  const { iss, aud, exp, nbf, client_id, token_type } = claims;
  if (token_type === "refresh_token") throw new AuthFault("malformed", "A refresh token is no access token");
  if (iss !== undefined && !(typeof iss === "string" && options.issuers.includes(iss))) {
    throw new AuthFault("wrong_issuer", "The token is from another issuer");
  }
  const accepted: readonly unknown[] = [...options.audience, options.resource];
  const audiences: readonly unknown[] = aud === undefined ? [] : Array.isArray(aud) ? aud : [aud];
  if (client_id === undefined || (aud !== undefined && !audiences.some((one) => accepted.includes(one)))) {
    throw new AuthFault("wrong_audience", "The token was made for another application");
  }
  requireAllowedClient(claims, options.audience);
  const now = Date.now();
  if (typeof exp === "number" && exp * 1000 <= now) throw new AuthFault("expired", "The token has expired");
  if (typeof nbf === "number" && nbf * 1000 > now) throw new AuthFault("not_yet_valid", "The token is not valid yet");
  return { claims, believedUntilMs: goodUntil };
}

async function activeClaims(token: string, uri: string): Promise<CachedAnswer> {
  const key = await cacheKey(token, uri);
  const cached = answers.get(key);
  if (cached && Date.now() < cached.goodUntil) return cached;
  answers.delete(key);
  const claims = await ask(token, uri);
  if (claims.active !== true) throw new AuthFault("inactive", "The token is not active");
  const answer = { claims, goodUntil: Date.now() + CACHE_TTL_MS };
  remember(key, answer);
  return answer;
}

function remember(key: string, answer: CachedAnswer): void {
  if (answers.size >= CACHE_CAPACITY) {
    for (const oldest of answers.keys()) {
      answers.delete(oldest);
      break;
    }
  }
  answers.set(key, answer);
}

async function ask(token: string, uri: string): Promise<Claims> {
  const { status, body } = await askIssuer(uri, { token, token_type_hint: "access_token" });
  if (status === 200) return body;
  throw new AuthFault("issuer_unreachable", "Token introspection failed", { cause: `status ${status}` });
}

async function cacheKey(token: string, uri: string): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([uri, token]));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return String.fromCharCode(...hash);
}
