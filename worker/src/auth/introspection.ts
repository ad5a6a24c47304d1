// Opaque tokens: the issuer is asked (RFC 7662), and its answer remembered for a short while.
// Knows nothing of HTTP requests, scopes or tenants.

import { AuthFault } from "../refusal/fault.ts";
import { askIssuer } from "./ask-issuer.ts";
import type { Claims } from "./identity.ts";
import { requireAllowedClient } from "./identity.ts";

export interface IntrospectionOptions {
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
export async function introspect(
  token: string,
  options: IntrospectionOptions,
): Promise<{ readonly claims: Claims; readonly believedUntilMs: number }> {
  const { claims, goodUntil } = await activeClaims(token, options.introspectionUri);
  const { iss, aud, exp, nbf, client_id, token_type } = claims;
  if (token_type === "refresh_token") throw new AuthFault("malformed", "A refresh token is not one to log in with");
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
  if (typeof exp !== "number") throw new AuthFault("missing_claim", "The token has no expiry");
  if (exp * 1000 <= now) throw new AuthFault("expired", "The token has expired");
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
  throw new AuthFault("issuer_unreachable", "The issuer does not tell about tokens", { cause: `status ${status}` });
}

async function cacheKey(token: string, uri: string): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([uri, token]));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return String.fromCharCode(...hash);
}
