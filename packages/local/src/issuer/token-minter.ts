// Minting access tokens of a running system in any process that can read its key: for tests, and for
// `npm run token`.
import { loadSigningKey } from "./keys.ts";
import { CLI_CLIENT_ID, DEFAULT_TOKEN_SCOPE, type Person, signAccessToken } from "./tokens.ts";

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
    const now = Math.floor(Date.now() / 1000);
    const lifetime = request.expires ?? 3600;
    return signAccessToken(key, {
      sub: request.sub ?? "alice",
      org: request.org ?? "local",
      name: request.name,
      email: request.email,
      scope: request.scope ?? DEFAULT_TOKEN_SCOPE,
      audience: request.aud ?? CLI_CLIENT_ID,
      client: request.client,
      issuer: request.issuer ?? system.issuerUrl,
      // An expired token was issued before it expired.
      issuedAt: lifetime < 0 ? now + lifetime - 1 : now,
      lifetime: lifetime < 0 ? 1 : lifetime,
    });
  };
}
