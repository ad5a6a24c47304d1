// Logins of another issuer, found by its discovery document: OpenID Connect's code flow with PKCE. Knows no accounts.
import * as oidc from "openid-client";
import { remember } from "../../../local/src/issuer/memory-adapter.ts";
import { ServeError } from "../base/refusal.ts";

/** A person may have to find their second factor. */
const PATIENCE_MS = 15 * 60_000;

export type IssuerWish = { readonly url: string; readonly clientId: string; readonly secret: string | undefined };

type Begun = { readonly nonce: string; readonly verifier: string; readonly to: string; readonly untilMs: number };

export class OtherIssuer {
  readonly #url: URL;
  readonly #wish: IssuerWish;
  readonly #redirectUri: string;
  readonly #begun = new Map<string, Begun>();
  #found: Promise<oidc.Configuration> | undefined;

  /** @throws {ServeError} */
  constructor(wish: IssuerWish, redirectUri: string) {
    const url = URL.parse(wish.url);
    const isLocal = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
    if (url === null || (url.protocol !== "https:" && !isLocal))
      throw new ServeError(`--issuer is the https address of an OpenID Connect issuer, not "${wish.url}"`);
    this.#url = url;
    this.#wish = wish;
    this.#redirectUri = redirectUri;
  }

  get host(): string {
    return this.#url.host;
  }

  /** Asked at the first login: a server starts without its issuer. */
  #discover(): Promise<oidc.Configuration> {
    const { clientId, secret } = this.#wish;
    const execute = this.#url.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
    this.#found ??= oidc.discovery(this.#url, clientId, secret, undefined, { execute }).catch((error: unknown) => {
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  }

  /** @param to Where the person goes on afterwards. @returns Where they log in, and what their browser keeps until then. */
  async begin(to: string): Promise<{ readonly url: URL; readonly state: string }> {
    const config = await this.#discover();
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    remember(this.#begun, state, { nonce, verifier, to, untilMs: performance.now() + PATIENCE_MS });
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.#redirectUri,
      scope: "openid email",
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return { url, state };
  }

  /**
   * @param state What the browser has kept. @returns The names that the issuer vouches for: a verified address, and the subject where
   * that can't be taken for one. @throws {Error} If the answer is not one to this browser's login.
   */
  async finish(
    query: URLSearchParams,
    state: string,
  ): Promise<{ readonly names: readonly string[]; readonly to: string }> {
    const begun = this.#begun.get(state);
    this.#begun.delete(state);
    if (begun === undefined || begun.untilMs < performance.now())
      throw new Error("this login was not begun here, or too long ago");
    const config = await this.#discover();
    const checks = {
      pkceCodeVerifier: begun.verifier,
      expectedNonce: begun.nonce,
      expectedState: state,
      idTokenExpected: true,
    };
    const tokens = await oidc.authorizationCodeGrant(config, new URL(`${this.#redirectUri}?${query}`), checks);
    const claims = tokens.claims();
    const { sub } = claims ?? { sub: "" };
    // Many tell the address here alone.
    const hasInfo = claims?.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
    const { email, email_verified: isVerified } =
      (hasInfo ? await oidc.fetchUserInfo(config, tokens.access_token, sub) : claims) ?? {};
    const names = [isVerified === true ? String(email) : "", sub.includes("@") ? "" : sub];
    return { names: names.filter((name) => name !== ""), to: begun.to };
  }
}
