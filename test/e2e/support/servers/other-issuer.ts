// Another OpenID Connect issuer, such as a team has: whoever comes is the person that the test names.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { onTestFinished } from "vitest";

export const CLIENT = { id: "serve", secret: "a-secret-between-the-two-of-them" };

export type Comer = { readonly sub: string; readonly email: string; readonly isVerified: boolean };

export class OtherIssuer {
  readonly url: string;
  comer: Comer = { sub: "", email: "", isVerified: false };

  private constructor(url: string) {
    this.url = url;
  }

  /** @param redirectUri Where it sends people back to. Ends with the test. */
  static async start(redirectUri: string): Promise<OtherIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const issuer = new OtherIssuer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const provider = new Provider(issuer.url, {
      clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
      clientAuthMethods: ["client_secret_post", "client_secret_basic"],
      clientDefaults: { token_endpoint_auth_method: "client_secret_post" },
      claims: { openid: ["sub"], email: ["email", "email_verified"] },
      cookies: { keys: ["of-this-test"] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
      findAccount: (_, accountId) => {
        const { email, isVerified } = issuer.comer;
        return { accountId, claims: () => ({ sub: accountId, email, email_verified: isVerified }) };
      },
      loadExistingGrant: async (ctx) => {
        const grant = new ctx.oidc.provider.Grant({
          clientId: CLIENT.id,
          accountId: ctx.oidc.session?.accountId ?? "",
        });
        grant.addOIDCScope("openid email");
        await grant.save();
        return grant;
      },
    });
    const answer = provider.callback();
    server.on("request", (request, response) => {
      if (!request.url?.startsWith("/sign-in/")) return answer(request, response);
      return provider.interactionFinished(request, response, { login: { accountId: issuer.comer.sub } });
    });
    return issuer;
  }
}
