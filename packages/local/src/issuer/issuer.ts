// The local issuer: an OAuth server for `npm start` and for tests, on the loopback interface only. This file is the
// HTTP shell: which callers it admits, and which requests oidc-provider does not answer itself.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createLocalJWKSet, jwtVerify } from "jose";
import type Provider from "oidc-provider";
import { loadSigningKey, type SigningKey } from "./keys.ts";
import { newProvider } from "./provider.ts";
import { type Form, SignIn } from "./sign-in.ts";

const MAX_BODY_BYTES = 64 * 1024;

export interface IssuerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Directory of the signing key, shared with `npm run token`. */
  readonly dir: string;
  /** Origin of the page that people sign in to; its `/callback` is the only place a code is sent to. */
  readonly publicOrigin: string;
  /** `opaque`: access tokens are `at_…` and have to be introspected, as the real issuer's. Default `jwt`. */
  readonly accessTokens?: "jwt" | "opaque" | undefined;
  /** Seconds an access token lives, or a function that says so for each. Default 3600. */
  readonly accessTokenLifetime?: number | (() => number) | undefined;
  /** Seconds between two polls of a device, possibly a fraction. Default 1. */
  readonly deviceInterval?: number | undefined;
}

export interface Issuer {
  /** The value of `iss`, and the base of all its addresses: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Stops listening and cuts open connections. */
  close(): Promise<void>;
}

/**
 * Starts an issuer. Anyone on this machine may sign in as anybody, so it binds 127.0.0.1 and answers only requests that
 * name it as their host. A page elsewhere that points its own name here gets nothing.
 *
 * @throws {Error} With code EADDRINUSE if the port is taken.
 */
export async function startIssuer(options: IssuerOptions): Promise<Issuer> {
  const { accessTokens = "jwt", accessTokenLifetime: lifetime = 3600, deviceInterval = 1, publicOrigin } = options;
  const key = await loadSigningKey(options.dir);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: options.port, exclusive: true }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const people = new Map();
  const provider = newProvider(
    {
      url,
      key,
      redirectUri: new URL("/callback", publicOrigin).href,
      accessTokens,
      accessTokenLifetime: typeof lifetime === "number" ? () => lifetime : lifetime,
      deviceInterval,
    },
    people,
  );
  const signIn = new SignIn(provider, people, new URL(publicOrigin).origin);
  const shell = new Shell(url, provider, signIn, key);
  server.on("request", (request, response) => void shell.answer(request, response));
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class Shell {
  readonly #url: string;
  readonly #provider: Provider;
  readonly #signIn: SignIn;
  readonly #jwks: ReturnType<typeof createLocalJWKSet>;
  readonly #oauth: (request: IncomingMessage, response: ServerResponse) => Promise<void>;

  constructor(url: string, provider: Provider, signIn: SignIn, key: SigningKey) {
    this.#url = url;
    this.#provider = provider;
    this.#signIn = signIn;
    this.#jwks = createLocalJWKSet({ keys: [key.publicJwk] });
    this.#oauth = provider.callback();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response);
    } catch (error) {
      // A client that went away in mid-body ends up here as well; then no client reads this.
      console.error("Issuer:", error);
      refuse(response, 500, "The issuer failed; its terminal says why");
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, origin, authorization } = request.headers;
    const isOurs = [this.#url, this.#url.replace("127.0.0.1", "localhost")].includes(`http://${host}`);
    if (!isOurs) return refuse(response, 403, "Host is not this issuer");
    const { pathname, searchParams } = new URL(request.url ?? "/", this.#url);
    const isPage = pathname === "/device" || pathname.startsWith("/interaction/");
    // A page elsewhere can post a form here: it may not press our buttons, nor start anything that a program does.
    if (request.method === "POST" && origin !== (isPage ? `http://${host}` : undefined)) {
      return refuse(response, 403, "Origin is not allowed here");
    }
    if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) {
      return refuse(response, 413, `A body is at most ${MAX_BODY_BYTES} bytes`);
    }
    const form = async (): Promise<Form> => (request.method === "POST" ? readForm(request) : undefined);
    switch (pathname) {
      case "/healthz":
        return json(response, 200, { ok: true });
      case "/device":
        return this.#signIn.device(response, searchParams.get("user_code") ?? "", await form());
      case "/oauth/introspect":
        return json(response, 200, await this.#introspection((await form())?.get("token") ?? ""));
      case "/me": {
        const claims = await this.#introspection(/^Bearer (\S+)$/i.exec(authorization ?? "")?.[1] ?? "");
        const { active, sub: id, name, email, org_id: organizationId } = claims;
        return active
          ? json(response, 200, { id, name, email, organizationId })
          : json(response, 401, { error: "invalid_token" });
      }
      case "/.well-known/oauth-authorization-server":
        request.url = "/.well-known/openid-configuration";
    }
    return isPage ? this.#signIn.browser(request, response, await form()) : this.#oauth(request, response);
  }

  /** Of an access token of either kind, for everybody who asks: the real issuer does not ask for a client either. */
  async #introspection(token: string): Promise<Record<string, unknown>> {
    const found = await this.#provider.AccessToken.find(token);
    if (found?.isValid) {
      const { clientId, exp, extra, iat, scope, accountId: sub } = found;
      const claims = { ...extra, sub, iss: this.#url, aud: clientId, client_id: clientId, scope, iat, exp };
      return { active: true, token_type: "Bearer", ...claims };
    }
    // An id_token carries no client_id: it is not an access token.
    const expected = { issuer: this.#url, requiredClaims: ["client_id"] };
    const verified = await jwtVerify(token, this.#jwks, expected).catch(() => undefined);
    return verified === undefined ? { active: false } : { active: true, token_type: "Bearer", ...verified.payload };
  }
}

function json(response: ServerResponse, status: number, value: object): void {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  response.writeHead(status, headers).end(JSON.stringify(value));
}

const refuse = (response: ServerResponse, status: number, message: string): void =>
  json(response, status, { error: "invalid_request", error_description: message });

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) {
    text += chunk;
    if (text.length > MAX_BODY_BYTES) throw new Error("The body is longer than its length says");
  }
  return new URLSearchParams(text);
}
