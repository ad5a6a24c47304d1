// An issuer for tests, on loopback: whatever a real one does right or wrong, by request. Each realm (`/r/NAME`) is an
// issuer of its own with its own knobs, so tests don't see each other. Runs in Node; the tests drive it over HTTP.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose";
import type { IssuerKeys, RealmCounts, RealmKnobs } from "./issuer-knobs.ts";

export interface TestIssuer {
  /** Realms are at `${origin}/r/NAME`; that is also their `iss`. */
  readonly origin: string;
  readonly keys: IssuerKeys;
  close(): Promise<void>;
}

/** The subject of the tokens given for a code. */
export const LOGIN_SUBJECT = "alice";

interface Realm {
  readonly issuer: string;
  knobs: RealmKnobs;
  readonly counts: RealmCounts;
  readonly codes: Map<string, URLSearchParams>;
  /** Each counts once. */
  readonly refreshTokens: Set<string>;
}

/** Starts the issuer on a free port of 127.0.0.1. */
export async function startTestIssuer(): Promise<TestIssuer> {
  const keys: IssuerKeys = { a: await newKey("a"), b: await newKey("b"), foreign: await newKey("a") };
  const realms = new Map<string, Realm>();
  let origin = "";
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error("Test issuer:", error);
      response.writeHead(500).end();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", origin);
    const [, , name = "", ...rest] = url.pathname.split("/");
    const realm = realms.get(name) ?? newRealm(`${origin}/r/${name}`);
    realms.set(name, realm);
    const route = `${request.method} ${rest.join("/")}`;
    const body = await text(request);
    if (route === "PUT knobs") {
      realm.knobs = { ...realm.knobs, ...(JSON.parse(body) as RealmKnobs) };
      return json(response, 200, {});
    }
    if (route === "GET counts") return json(response, 200, realm.counts);
    if (realm.knobs.down) return json(response, 500, { error: "down" });
    switch (route) {
      case "GET .well-known/jwks.json":
        realm.counts.jwks++;
        return json(response, 200, { keys: (realm.knobs.published ?? ["a"]).map((kid) => publicPart(keys[kid])) });
      case "POST oauth/introspect":
        realm.counts.introspect++;
        return json(
          response,
          200,
          realm.knobs.opaque?.[new URLSearchParams(body).get("token") ?? ""] ?? { active: false },
        );
      case "GET oauth/authorize":
        return authorize(realm, url.searchParams, response);
      case "POST oauth/token":
        realm.counts.token++;
        return token(realm, new URLSearchParams(body), response);
      case "POST internal/validate": {
        realm.counts.validate++;
        const { status, body: answer } = realm.knobs.validate ?? { status: 401, body: {} };
        return json(response, status, answer);
      }
      case "POST moved":
        response.writeHead(307, { Location: `${realm.issuer}/oauth/introspect` }).end();
        return;
      default:
        return json(response, 404, { error: "not_found" });
    }
  }

  // Everyone is logged in already and agrees to everything.
  function authorize(realm: Realm, query: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(16).toString("hex");
    realm.codes.set(code, query);
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    back.searchParams.set("iss", realm.issuer);
    response.writeHead(302, { Location: back.href }).end();
  }

  async function token(realm: Realm, form: URLSearchParams, response: ServerResponse): Promise<void> {
    if (form.get("grant_type") === "refresh_token") {
      const isKnown = realm.refreshTokens.delete(form.get("refresh_token") ?? "");
      return isKnown ? issue(realm, form, null, response) : json(response, 400, { error: "invalid_grant" });
    }
    const code = form.get("code") ?? "";
    const asked = realm.codes.get(code);
    realm.codes.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const fits =
      form.get("grant_type") === "authorization_code" &&
      asked?.get("code_challenge_method") === "S256" &&
      asked.get("code_challenge") === challenge &&
      asked.get("redirect_uri") === form.get("redirect_uri") &&
      asked.get("client_id") === form.get("client_id");
    if (!fits) return json(response, 400, { error: "invalid_grant" });
    return issue(realm, form, asked.get("nonce"), response);
  }

  async function issue(
    realm: Realm,
    form: URLSearchParams,
    nonce: string | null,
    response: ServerResponse,
  ): Promise<void> {
    const { accessToken = "jwt", claims, idToken = true, idClaims, scope } = realm.knobs;
    const client = form.get("client_id") ?? "";
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const common = { iss: realm.issuer, aud: client, sub: LOGIN_SUBJECT, exp, ...claims };
    const refreshToken = `rt_${randomBytes(24).toString("hex")}`;
    if (realm.knobs.refresh) realm.refreshTokens.add(refreshToken);
    const person = { name: "Alice", email: "alice@example.test" };
    return json(response, 200, {
      token_type: "Bearer",
      access_token: accessToken === "jwt" ? await sign({ ...common, client_id: client }) : `at_${"0".repeat(48)}`,
      ...(idToken && { id_token: await sign({ ...common, ...person, ...(nonce !== null && { nonce }), ...idClaims }) }),
      ...(scope !== undefined && { scope }),
      ...(realm.knobs.refresh && { refresh_token: refreshToken }),
    });
  }

  async function sign(claims: Record<string, unknown>): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "a" }).sign(await importJWK(keys.a, "RS256"));
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    keys,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function newRealm(issuer: string): Realm {
  return {
    issuer,
    knobs: {},
    counts: { jwks: 0, introspect: 0, token: 0, validate: 0 },
    codes: new Map(),
    refreshTokens: new Set(),
  };
}

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

function publicPart({ kty, n, e, kid, alg, use }: JWK): JWK {
  return { kty, n, e, kid, alg, use } as JWK;
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}
