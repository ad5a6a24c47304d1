// Opaque tokens: the issuer is asked (RFC 7662), and its answer remembered for a short while.
// Knows nothing of HTTP requests, scopes or tenants.

import { askIssuer } from "./ask-issuer.ts";
import { requireAllowedClient } from "./audience.ts";
import { AuthFault } from "./fault.ts";
import type { Claims } from "./identity.ts";
import { Remembered } from "./remembered.ts";

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
// The answers, not verdicts: each use checks expiry, issuer and client anew. Only "active" is kept; an unknown token may
// become known in a moment.
const answers = new Remembered<Claims>();

/**
 * The issuer's answer about an opaque token, checked, and until when it is believed.
 * @throws {AuthFault}
 */
export async function introspect(
  token: string,
  options: IntrospectionOptions,
): Promise<{ readonly claims: Claims; readonly believedUntilMs: number }> {
  const { answer: claims, untilMs } = await activeClaims(token, options.introspectionUri);
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
  return { claims, believedUntilMs: untilMs };
}

async function activeClaims(
  token: string,
  uri: string,
): Promise<{ readonly answer: Claims; readonly untilMs: number }> {
  const key = Remembered.keyOf([uri, token]);
  const known = answers.get(key);
  if (known !== undefined) return known;
  const answer = await ask(token, uri);
  if (answer.active !== true) throw new AuthFault("inactive", "The token is not active");
  const untilMs = Date.now() + CACHE_TTL_MS;
  answers.set(key, answer, untilMs);
  return { answer, untilMs };
}

async function ask(token: string, uri: string): Promise<Claims> {
  const { status, body } = await askIssuer(uri, { token, token_type_hint: "access_token" });
  if (status === 200) return body;
  throw new AuthFault("issuer_unreachable", "The issuer does not tell about tokens", { cause: `status ${status}` });
}
