// The tokens of the local issuer: whose they are, and how any process that can read its key signs one, as `npm run token` and
// tests do. Knows no HTTP.
import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { loadSigningKey } from "./keys.ts";

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
  /** `sandbox:*`: all that this person may do. Absent: what the client asks for. */
  readonly scopes?: readonly string[] | undefined;
  /** When the login, or the key for it, was made, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Until when the login goes on without its person, in milliseconds since 1970. Absent: as long as its tokens are renewed. */
  readonly untilMs?: number | undefined;
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

/** The claims of a token; alice of local, for an hour, to attach and to run, where nothing else is said. */
export interface TokenRequest extends Partial<Person> {
  /** Space separated; "" leaves the claim out. */
  readonly scope?: string | undefined;
  /** Lifetime in seconds; negative: expired that long ago. */
  readonly expires?: number | undefined;
  /** The client that the token is for. */
  readonly aud?: string | undefined;
  /** The client that it says it was issued to, where that is another; "" leaves the claim out. */
  readonly client?: string | undefined;
  readonly issuer?: string | undefined;
}

export type TokenMinter = (request?: TokenRequest) => Promise<string>;

/** Loads the key in `keysDir`; the tokens claim to be from `issuerUrl`. */
export async function tokenMinter(system: { keysDir: string; issuerUrl: string }): Promise<TokenMinter> {
  const key = await loadSigningKey(system.keysDir);
  return (request = {}) => {
    const { sub = "alice", org = "local", scope = DEFAULT_TOKEN_SCOPE, aud = CLI_CLIENT_ID, expires = 3600 } = request;
    const claims = { ...personClaims({ ...request, sub, org }), client_id: request.client ?? aud, scope };
    const now = Math.floor(Date.now() / 1000);
    // An expired token was issued before it expired.
    const issuedAt = expires < 0 ? now + expires - 1 : now;
    return new SignJWT(Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== "")))
      .setProtectedHeader({ alg: "RS256", kid: key.kid, typ: "JWT" })
      .setIssuer(request.issuer ?? system.issuerUrl)
      .setAudience(aud)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + (expires < 0 ? 1 : expires))
      .setJti(randomUUID())
      .sign(key.privateKey);
  };
}
