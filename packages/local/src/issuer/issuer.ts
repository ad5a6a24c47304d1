// The issuer: an OAuth server, on the loopback interface for tests, on a Unix socket for `serve`. This file is the HTTP
// shell: which callers it admits, and which requests oidc-provider does not answer itself.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createLocalJWKSet, jwtVerify } from "jose";
import type { AdapterFactory, default as Provider } from "oidc-provider";
import type { Admission, Form } from "./admission.ts";
import { anybody } from "./anybody.ts";
import { loadSigningKey, type SigningKey } from "./keys.ts";
import { newProvider, type People } from "./provider.ts";
import { SignIn } from "./sign-in.ts";

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
  /** Present: it listens there instead, behind a front that people reach at `publicOrigin`, which is its own address then. */
  readonly behindFront?: { readonly socketPath: string; readonly hosts: readonly string[] };
  /** Who signs in. Default: anybody. */
  readonly admission?: Admission | undefined;
  /** What it remembers, and of whom. Default: until it is closed. */
  readonly memory?: { readonly adapter: AdapterFactory; readonly people: People } | undefined;
}

export interface Issuer {
  /** The value of `iss`, and the base of all its addresses: `http://127.0.0.1:PORT`, or the front's. */
  readonly url: string;
  /** Stops listening and cuts open connections. */
  close(): Promise<void>;
}

/**
 * Starts an issuer. It answers only requests that name it as their host: a page elsewhere that points its own name here gets nothing.
 * Where anyone may sign in as anybody, it binds 127.0.0.1.
 *
 * @throws {Error} With code EADDRINUSE if the port or the socket is taken.
 */
export async function startIssuer(options: IssuerOptions): Promise<Issuer> {
  const { accessTokens = "jwt", accessTokenLifetime: lifetime = 3600, deviceInterval = 1, publicOrigin } = options;
  const { behindFront, admission = anybody, memory } = options;
  const key = await loadSigningKey(options.dir);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const place =
      behindFront === undefined ? { host: "127.0.0.1", port: options.port } : { path: behindFront.socketPath };
    server.listen({ ...place, exclusive: true }, resolve);
  });
  const url = behindFront === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : publicOrigin;
  const own = new URL(url).host;
  const people: People = memory?.people ?? new Map();
  const provider = newProvider(
    {
      url,
      key,
      redirectUri: new URL("/callback", publicOrigin).href,
      accessTokens,
      accessTokenLifetime: typeof lifetime === "number" ? () => lifetime : lifetime,
      deviceInterval,
      adapter: memory?.adapter,
      stillMay: (person) => admission.stillMay(person),
      isBehindFront: behindFront !== undefined,
    },
    people,
  );
  const signIn = new SignIn(provider, people, new URL(publicOrigin).origin, admission);
  const hosts = behindFront?.hosts ?? [own, own.replace("127.0.0.1", "localhost")];
  const shell = new Shell({ url, hosts, provider, signIn, admission }, key);
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

type Parts = {
  readonly url: string;
  readonly hosts: readonly string[];
  readonly provider: Provider;
  readonly signIn: SignIn;
  readonly admission: Admission;
};

class Shell {
  readonly #parts: Parts;
  readonly #jwks: ReturnType<typeof createLocalJWKSet>;
  readonly #oauth: (request: IncomingMessage, response: ServerResponse) => Promise<void>;

  constructor(parts: Parts, key: SigningKey) {
    this.#parts = parts;
    this.#jwks = createLocalJWKSet({ keys: [key.publicJwk] });
    this.#oauth = parts.provider.callback();
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
    if (!this.#parts.hosts.includes(host ?? "")) return refuse(response, 403, "Host is not this issuer");
    const { pathname, searchParams } = new URL(request.url ?? "/", this.#parts.url);
    const own = this.#parts.admission.posts[pathname];
    const isPage = own !== undefined || pathname === "/device" || pathname.startsWith("/interaction/");
    // A page elsewhere can post a form here: it may not press our buttons, nor start anything that a program does.
    const { protocol } = new URL(this.#parts.url);
    if (request.method === "POST" && origin !== (isPage ? `${protocol}//${host}` : undefined)) {
      return refuse(response, 403, "Origin is not allowed here");
    }
    if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) {
      return refuse(response, 413, `A body is at most ${MAX_BODY_BYTES} bytes`);
    }
    const form = async (): Promise<Form> => (request.method === "POST" ? readForm(request) : undefined);
    if (own !== undefined) {
      const posted = await form();
      return posted === undefined ? refuse(response, 405, "This is to be posted") : own(posted, request, response);
    }
    const asked = request.method === "GET" ? this.#parts.admission.gets[pathname] : undefined;
    if (asked !== undefined) return asked(searchParams, request, response);
    switch (pathname) {
      case "/healthz":
        return json(response, 200, { ok: true });
      case "/device":
        return this.#parts.signIn.device(request, response, searchParams.get("user_code") ?? "", await form());
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
    return isPage ? this.#parts.signIn.browser(request, response, await form()) : this.#oauth(request, response);
  }

  /** Introspects access tokens of either kind for any caller: the real issuer does not authenticate the client either. */
  async #introspection(token: string): Promise<Record<string, unknown>> {
    const found = await this.#parts.provider.AccessToken.find(token);
    if (found?.isValid) {
      const { clientId, exp, extra, iat, scope, accountId: sub } = found;
      const claims = { ...extra, sub, iss: this.#parts.url, aud: clientId, client_id: clientId, scope, iat, exp };
      return { active: true, token_type: "Bearer", ...claims };
    }
    // An id_token carries no client_id: it is not an access token.
    const expected = { issuer: this.#parts.url, requiredClaims: ["client_id"] };
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
