// The local issuer's OAuth server: oidc-provider, set up as this project's issuer is. Knows no sockets and no pages.
import { randomBytes } from "node:crypto";
import { type AdapterFactory, type Configuration, interactionPolicy, Provider } from "oidc-provider";
import type { SigningKey } from "./keys.ts";
import { MemoryAdapter, remember } from "./memory-adapter.ts";
import { messagePage } from "./pages.ts";
import { CLI_CLIENT_ID, type Person, personClaims, WEB_CLIENT_ID } from "./tokens.ts";

const SCOPES = ["openid", "profile", "email", "offline_access", "sandbox:connect", "sandbox:exec", "sandbox:admin"];
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const MONTH = 30 * 24 * 3600;
const SECURE_COOKIES = {
  interaction: "__Secure-_interaction",
  resume: "__Secure-_resume",
  session: "__Secure-_session",
};

export interface ProviderOptions {
  readonly url: string;
  readonly key: SigningKey;
  /** Where the browser's client may be sent back to, exactly. */
  readonly redirectUri: string;
  readonly accessTokens: "jwt" | "opaque";
  /** Seconds. */
  readonly accessTokenLifetime: () => number;
  /** Seconds between two polls of a device; may be a fraction. */
  readonly deviceInterval: number;
  /** Default: remembers until the process ends. */
  readonly adapter?: AdapterFactory | undefined;
  readonly isBehindFront?: boolean;
  /** Whether a person's login may go on. */
  readonly stillMay: (person: Person) => boolean;
}

/** Who signed in, by the grant that came of it. */
export type People = Map<string, Person>;

export function newProvider(options: ProviderOptions, people: People): Provider {
  const { url, accessTokens } = options;
  const provider = new Provider(url, { ...configuration(options, people), adapter: options.adapter ?? MemoryAdapter });
  // Over a Unix socket, which only our own front reaches: it says which scheme and host were asked.
  provider.proxy = options.isBehindFront === true;
  provider.on("server_error", (_ctx, error) => console.error("Issuer:", error));
  // oidc-provider leaves the interval to the client, whose default is five seconds.
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path === "/oauth/device" && ctx.status === 200)
      Object.assign(ctx.body, { interval: options.deviceInterval });
  });
  if (accessTokens === "opaque") {
    // As the real issuer's tokens begin: the Worker asks about no others.
    const tokens = provider.AccessToken.prototype as unknown as { generateTokenId(): string };
    const generate = tokens.generateTokenId;
    tokens.generateTokenId = function (): string {
      return `at_${generate.call(this)}`;
    };
  }
  return provider;
}

/** Approves for `person` what a client asked for. @returns The grant's id. */
export async function approve(
  provider: Provider,
  people: People,
  person: Person,
  { client_id: clientId = "", scope, resource }: { client_id?: string; scope?: string; resource?: string },
): Promise<string> {
  const grant = new provider.Grant({ accountId: person.sub, clientId });
  const granted = grantedScope(scope, person);
  grant.addOIDCScope(granted);
  if (resource !== undefined) grant.addResourceScope(resource, granted);
  const id = await grant.save();
  remember(people, id, person);
  return id;
}

/**
 * The scopes of `requested` that exist, in its order; a client that asks for nothing gets `openid`. Of a person whose rights in
 * sandboxes are known, those, whatever was requested.
 */
export function grantedScope(requested: string | undefined, { scopes }: Pick<Person, "scopes"> = {}): string {
  const asked = (requested ?? "").split(" ").filter((scope) => SCOPES.includes(scope));
  const granted = scopes === undefined ? asked : [...asked.filter((scope) => !scope.startsWith("sandbox:")), ...scopes];
  return granted.length === 0 ? "openid" : [...new Set(granted)].join(" ");
}

/** The command line, and the page. */
function clientsOf(redirectUri: string): Configuration["clients"] {
  return [
    {
      client_id: CLI_CLIENT_ID,
      application_type: "native",
      token_endpoint_auth_method: "none",
      grant_types: [DEVICE_GRANT, "refresh_token"],
      response_types: [],
      redirect_uris: [],
    },
    {
      client_id: WEB_CLIENT_ID,
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      redirect_uris: [redirectUri],
    },
  ];
}

function configuration(options: ProviderOptions, people: People): Configuration {
  const { url, key, redirectUri, accessTokens, accessTokenLifetime } = options;
  const policy = interactionPolicy.base();
  policy.remove("consent");
  // Whoever comes is asked who they are, signed in before or not.
  policy
    .get("login")
    ?.checks.add(
      new interactionPolicy.Check("each_time", "Each sign-in says who it is", "login_required", (ctx) =>
        ctx.oidc.result?.login === undefined
          ? interactionPolicy.Check.REQUEST_PROMPT
          : interactionPolicy.Check.NO_NEED_TO_PROMPT,
      ),
    );
  const personOf = (grantId: string | undefined): Person | undefined => people.get(grantId ?? "");
  return {
    clients: clientsOf(redirectUri),
    jwks: { keys: [key.privateJwk] },
    cookies: {
      keys: [randomBytes(32).toString("base64url")],
      // A page without TLS can't set cookies of these names.
      names: url.startsWith("https:") ? SECURE_COOKIES : {},
    },
    scopes: SCOPES,
    claims: { openid: ["sub", "org_id"], profile: ["name"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    responseTypes: ["code"],
    rotateRefreshToken: true,
    issueRefreshToken: () => Promise.resolve(true),
    // The session of the sign-in is short, and forgotten when the issuer restarts.
    expiresWithSession: () => Promise.resolve(false),
    ttl: {
      AccessToken: accessTokenLifetime,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: MONTH,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: MONTH,
      Session: 3600,
    },
    routes: {
      authorization: "/oauth/authorize",
      code_verification: "/device",
      device_authorization: "/oauth/device",
      jwks: "/.well-known/jwks.json",
      revocation: "/oauth/revoke",
      token: "/oauth/token",
    },
    renderError: (ctx, { error, error_description: description = "" }) => {
      ctx.type = "html";
      ctx.body = messagePage("Cannot log in", `${error}: ${description}`);
    },
    interactions: { policy, url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub, token) => {
      const person = personOf(token?.grantId);
      if (person !== undefined && !options.stillMay(person)) return undefined;
      return {
        accountId: sub,
        claims: () => ({ ...personClaims(person ?? { sub }), sub, email_verified: true }),
      };
    },
    extraTokenClaims: (_ctx, token) => {
      const person = personOf("grantId" in token ? token.grantId : undefined);
      return person === undefined ? undefined : personClaims(person);
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      deviceFlow: { enabled: true, charset: "base-20", mask: "****-****" },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: accessTokens === "jwt",
        defaultResource: () => url,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, _resource, client) => ({
          scope: SCOPES.join(" "),
          audience: client.clientId,
          accessTokenFormat: "jwt",
          accessTokenTTL: accessTokenLifetime(),
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}
