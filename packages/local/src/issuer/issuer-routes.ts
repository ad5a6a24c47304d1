// The local issuer's answers: OAuth 2.1 (code with PKCE, refresh, device) and OpenID discovery. A function from
// request to reply for every route; sockets, Host and size limits are issuer.ts's.
import { createLocalJWKSet, type JWTPayload, errors as joseErrors, jwtVerify } from "jose";
import type { Grant, GrantStore } from "./grants.ts";
import { DEVICE_CODE_SECONDS } from "./grants.ts";
import type { SigningKey } from "./keys.ts";
import { messagePage, signInPage } from "./pages.ts";
import type { Person } from "./tokens.ts";
import { CLI_CLIENT_ID, personClaims, signAccessToken, signIdToken, WEB_CLIENT_ID } from "./tokens.ts";

const SCOPES = ["openid", "profile", "email", "offline_access", "sandbox:connect", "sandbox:exec", "sandbox:admin"];
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

export interface IssuerRequest {
  /** `GET /path`, without the query. */
  readonly route: string;
  readonly query: URLSearchParams;
  /** The body of a POST; empty for the rest. */
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

export interface IssuerReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface IssuerContext {
  readonly url: string;
  readonly key: SigningKey;
  readonly grants: GrantStore;
  /** Where the browser's client may be sent back to, exactly. */
  readonly redirectUri: string;
  readonly accessTokens: "jwt" | "opaque";
  /** Seconds. */
  readonly accessTokenLifetime: () => number;
  /** Seconds between two polls of a device; may be a fraction. */
  readonly deviceInterval: number;
  /** Seconds since 1970. */
  readonly now: () => number;
}

type Handler = (request: IssuerRequest) => IssuerReply | Promise<IssuerReply>;

/** The routes that a person's browser posts to; the rest of the POST routes are for programs only. */
export const FORM_ROUTES: readonly string[] = ["POST /oauth/authorize", "POST /device"];

const json = (status: number, value: unknown): IssuerReply => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

const oauthError = (error: string, description: string): IssuerReply =>
  json(400, { error, error_description: description });

const unauthorized = (): IssuerReply => ({
  ...json(401, { error: "invalid_token" }),
  headers: { "content-type": "application/json", "www-authenticate": 'Bearer error="invalid_token"' },
});

function html(status: number, body: string, formTarget = ""): IssuerReply {
  // Chromium applies form-action to the redirect that answers the form as well, so the client's origin is named too.
  const policy = `default-src 'none'; style-src 'unsafe-inline'; form-action 'self' ${formTarget}; frame-ancestors 'none'`;
  return { status, headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy }, body };
}

function redirect(base: string, parameters: Record<string, string>): IssuerReply {
  const url = new URL(base);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { status: 303, headers: { location: url.href }, body: "" };
}

/** The scopes of `requested` that exist, in its order; a client that asks for nothing gets `openid`. */
function grantedScope(requested: string | null): string {
  const asked = (requested ?? "").split(" ").filter((scope) => SCOPES.includes(scope));
  return asked.length === 0 ? "openid" : [...new Set(asked)].join(" ");
}

/** The person that a sign-in form names, or the form's fault. */
function personFromForm(form: URLSearchParams): Person | string {
  const sub = (form.get("as") ?? form.get("user") ?? "").trim();
  const org = (form.get("org") ?? "").trim();
  if (!/^[\w.@+-]{1,64}$/.test(sub)) return "A user name is 1 to 64 letters, digits and . @ + - _";
  if (!/^[\w.@+-]{0,64}$/.test(org)) return "An organisation is at most 64 letters, digits and . @ + - _";
  return org === "" ? { sub } : { sub, org };
}

/** The routes by `METHOD /path`. */
export function issuerRoutes(context: IssuerContext): Map<string, Handler> {
  const { url, key, grants } = context;
  const jwks = createLocalJWKSet({ keys: [key.publicJwk] });

  async function tokenReply(grant: Grant): Promise<IssuerReply> {
    const { clientId, person, scope } = grant;
    const lifetime = context.accessTokenLifetime();
    const issuedAt = Math.floor(context.now());
    const claims = { ...person, issuer: url, audience: clientId, scope, issuedAt, lifetime };
    const token =
      context.accessTokens === "jwt" ? await signAccessToken(key, claims) : grants.addAccessToken(grant, lifetime);
    const answer: Record<string, string | number> = {
      access_token: token,
      token_type: "Bearer",
      expires_in: lifetime,
      refresh_token: grants.addRefreshToken(grant),
      scope,
    };
    if (scope.split(" ").includes("openid")) answer.id_token = await signIdToken(key, claims, token, grant.nonce);
    return json(200, answer);
  }

  /** The claims of a valid access token of either kind; undefined for any other. */
  async function readAccessToken(token: string): Promise<JWTPayload | undefined> {
    const opaque = grants.findAccessToken(token);
    if (opaque !== undefined) {
      const { clientId, person, scope } = opaque.grant;
      const times = { iat: Math.floor(opaque.issuedAt), exp: Math.floor(opaque.expiresAt) };
      return { iss: url, aud: clientId, client_id: clientId, scope, ...personClaims(person), ...times };
    }
    try {
      const currentDate = new Date(context.now() * 1000);
      const { payload } = await jwtVerify(token, jwks, { issuer: url, algorithms: ["RS256"], currentDate });
      // Our id_tokens carry no client_id: they are not access tokens.
      if (payload.client_id === undefined || payload.jti === undefined) return undefined;
      return grants.isRevokedId(payload.jti) ? undefined : payload;
    } catch (error) {
      if (error instanceof joseErrors.JOSEError) return undefined;
      throw error;
    }
  }

  const readBearer = ({ authorization }: IssuerRequest): Promise<JWTPayload | undefined> =>
    readAccessToken(/^Bearer (\S+)$/i.exec(authorization ?? "")?.[1] ?? "");

  /** The refusal of a wrong authorization request: a page if its client can't be trusted with the answer. */
  function checkAuthorization(query: URLSearchParams): IssuerReply | undefined {
    if (query.get("client_id") !== WEB_CLIENT_ID) {
      return html(400, messagePage("Cannot sign in", "The program that sent you here is not registered."));
    }
    if (query.get("redirect_uri") !== context.redirectUri) {
      const message = `The program asked for an answer at an address that is not its own: only ${context.redirectUri} is.`;
      return html(400, messagePage("Cannot sign in", message));
    }
    const state = query.get("state");
    const refuse = (error: string, description: string): IssuerReply =>
      redirect(context.redirectUri, {
        error,
        error_description: description,
        iss: url,
        ...(state === null ? {} : { state }),
      });
    if (query.get("response_type") !== "code") return refuse("unsupported_response_type", "response_type must be code");
    if (query.get("code_challenge_method") !== "S256") return refuse("invalid_request", "PKCE with S256 is required");
    if (!/^[\w-]{43}$/.test(query.get("code_challenge") ?? "")) {
      return refuse("invalid_request", "code_challenge must be the base64url SHA-256 of the verifier");
    }
    return undefined;
  }

  function authorizationPage(query: URLSearchParams, problem?: string): IssuerReply {
    const body = signInPage({
      title: "Sign in to sbx-stdio",
      explanation: `The page at ${new URL(context.redirectUri).origin} asks for: ${grantedScope(query.get("scope"))}`,
      action: "/oauth/authorize",
      hidden: Object.fromEntries([...query].filter(([name]) => !["user", "as", "org", "refuse"].includes(name))),
      suggestedUser: query.get("login_hint") ?? undefined,
      refusal: "Cancel",
      ...(problem === undefined ? {} : { problem }),
    });
    return html(200, body, new URL(context.redirectUri).origin);
  }

  function authorize({ form }: IssuerRequest): IssuerReply {
    const refused = checkAuthorization(form);
    if (refused !== undefined) return refused;
    const state = form.get("state");
    const common = { iss: url, ...(state === null ? {} : { state }) };
    if (form.has("refuse")) return redirect(context.redirectUri, { error: "access_denied", ...common });
    const person = personFromForm(form);
    if (typeof person === "string") return authorizationPage(form, person);
    const grant: Grant = {
      clientId: WEB_CLIENT_ID,
      person,
      scope: grantedScope(form.get("scope")),
      nonce: form.get("nonce") ?? undefined,
    };
    const code = grants.addCode(grant, context.redirectUri, form.get("code_challenge") ?? "");
    return redirect(context.redirectUri, { code, ...common });
  }

  function startDevice({ form }: IssuerRequest): IssuerReply {
    const clientId = form.get("client_id") ?? "";
    if (clientId !== CLI_CLIENT_ID) return oauthError("invalid_client", `Unknown client for this flow: ${clientId}`);
    const { deviceCode, userCode } = grants.addDevice(clientId, grantedScope(form.get("scope")));
    return json(200, {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${url}/device`,
      verification_uri_complete: `${url}/device?user_code=${userCode}`,
      expires_in: DEVICE_CODE_SECONDS,
      interval: context.deviceInterval,
    });
  }

  function devicePage(userCode: string, problem?: string): IssuerReply {
    const device = grants.findDevice(userCode);
    const asks = device === undefined ? "" : `, which asks for: ${device.scope}`;
    const body = signInPage({
      title: "Sign in a program",
      explanation: `Signs in the program that shows the code below${asks}. Go on only if you started it yourself.`,
      action: "/device",
      hidden: {},
      userCode: device?.userCode ?? userCode,
      refusal: "Refuse",
      ...(problem === undefined ? {} : { problem }),
    });
    return html(200, body);
  }

  function decideDevice({ form }: IssuerRequest): IssuerReply {
    const userCode = form.get("user_code") ?? "";
    const refuses = form.has("refuse");
    const person = refuses ? { sub: "" } : personFromForm(form);
    if (typeof person === "string") return devicePage(userCode, person);
    if (!grants.decideDevice(userCode, refuses ? { state: "denied" } : { state: "approved", person })) {
      return devicePage(userCode, "No program is waiting with this code: it may have expired, or been used.");
    }
    if (refuses) return html(200, messagePage("Refused", "The program was not signed in. You can close this page."));
    const message = `The program is signed in as ${person.sub}. You can close this page.`;
    return html(200, messagePage("Signed in", message));
  }

  function pollDevice(form: URLSearchParams, clientId: string): IssuerReply | Promise<IssuerReply> {
    const poll = grants.pollDevice(form.get("device_code") ?? "", clientId);
    switch (poll.state) {
      case "approved":
        return tokenReply(poll.grant);
      case "pending":
        return oauthError("authorization_pending", "Nobody has decided yet");
      case "too-fast":
        return oauthError("slow_down", `Poll every ${context.deviceInterval} s at most`);
      case "denied":
        return oauthError("access_denied", "The person refused");
      case "expired":
        return oauthError("expired_token", "The device code has expired");
      case "unknown":
        return oauthError("invalid_grant", "Unknown device code");
    }
  }

  function token({ form }: IssuerRequest): IssuerReply | Promise<IssuerReply> {
    const clientId = form.get("client_id") ?? "";
    if (clientId !== CLI_CLIENT_ID && clientId !== WEB_CLIENT_ID) {
      return oauthError("invalid_client", `Unknown client: ${clientId}`);
    }
    switch (form.get("grant_type")) {
      case DEVICE_GRANT:
        return pollDevice(form, clientId);
      case "authorization_code": {
        const field = (name: string): string => form.get(name) ?? "";
        const grant = grants.redeemCode(field("code"), clientId, field("redirect_uri"), field("code_verifier"));
        return grant === undefined ? oauthError("invalid_grant", "Code, address or verifier wrong") : tokenReply(grant);
      }
      case "refresh_token": {
        const grant = grants.redeemRefreshToken(form.get("refresh_token") ?? "", clientId);
        return grant === undefined ? oauthError("invalid_grant", "Unknown refresh token") : tokenReply(grant);
      }
      default:
        return oauthError("unsupported_grant_type", "authorization_code, refresh_token or device_code");
    }
  }

  async function introspect({ form }: IssuerRequest): Promise<IssuerReply> {
    const claims = await readAccessToken(form.get("token") ?? "");
    return json(200, claims === undefined ? { active: false } : { ...claims, active: true, token_type: "Bearer" });
  }

  async function revoke({ form }: IssuerRequest): Promise<IssuerReply> {
    const revoked = form.get("token") ?? "";
    const claims = await readAccessToken(revoked);
    if (claims?.jti !== undefined) grants.revokeId(claims.jti);
    grants.revokeToken(revoked);
    // RFC 7009: 200 for a token that was not valid, too.
    return { status: 200, headers: {}, body: "" };
  }

  async function userinfo(request: IssuerRequest): Promise<IssuerReply> {
    const claims = await readBearer(request);
    if (claims === undefined) return unauthorized();
    const { sub, name, email, org_id } = claims;
    return json(200, { sub, name, email, email_verified: true, org_id });
  }

  async function me(request: IssuerRequest): Promise<IssuerReply> {
    const claims = await readBearer(request);
    if (claims === undefined) return unauthorized();
    return json(200, { id: claims.sub, name: claims.name, email: claims.email, organizationId: claims.org_id });
  }

  const discovery = {
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    device_authorization_endpoint: `${url}/oauth/device`,
    introspection_endpoint: `${url}/oauth/introspect`,
    revocation_endpoint: `${url}/oauth/revoke`,
    userinfo_endpoint: `${url}/oauth/userinfo`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    scopes_supported: SCOPES,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token", DEVICE_GRANT],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    id_token_signing_alg_values_supported: ["RS256"],
    subject_types_supported: ["public"],
    authorization_response_iss_parameter_supported: true,
  };

  return new Map<string, Handler>([
    ["GET /healthz", () => json(200, { ok: true })],
    ["GET /.well-known/jwks.json", () => json(200, { keys: [key.publicJwk] })],
    ["GET /.well-known/openid-configuration", () => json(200, discovery)],
    ["GET /.well-known/oauth-authorization-server", () => json(200, discovery)],
    ["GET /oauth/authorize", ({ query }) => checkAuthorization(query) ?? authorizationPage(query)],
    ["POST /oauth/authorize", authorize],
    ["POST /oauth/device", startDevice],
    ["GET /device", ({ query }) => devicePage(query.get("user_code") ?? "")],
    ["POST /device", decideDevice],
    ["POST /oauth/token", token],
    ["POST /oauth/introspect", introspect],
    ["POST /oauth/revoke", revoke],
    ["GET /oauth/userinfo", userinfo],
    ["GET /me", me],
  ]);
}
