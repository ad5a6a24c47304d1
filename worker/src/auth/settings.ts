// The authentication variables of the environment, read and checked in one place.
// Knows nothing of requests. A deployment that is set up wrongly is refused here, with the variable's name.

import { AuthFault } from "./fault.ts";
import { isSandboxScope, type TenantClaim } from "./identity.ts";
import type { VerifyOptions } from "./verify-token.ts";

/** The variables and secrets of the Worker that concern authentication; all texts, as wrangler gives them. */
export interface AuthEnv {
  /** Required. The `iss` of accepted tokens, exact to the last character. */
  OAUTH_ISSUER?: string;
  /** Default: the issuer + `/.well-known/jwks.json`. */
  OAUTH_JWKS_URI?: string;
  /** Default: the issuer + `/oauth/introspect`. */
  OAUTH_INTROSPECTION_URI?: string;
  /** Default: the issuer + `/oauth/authorize`. */
  OAUTH_AUTHORIZE_URI?: string;
  /** Default: the issuer + `/oauth/token`. */
  OAUTH_TOKEN_URI?: string;
  /** Required. Comma separated: the clients (and audiences) whose tokens are accepted. Anyone can register others. */
  OAUTH_AUDIENCE?: string;
  /** The client that the browser login uses. Without it there is no browser login. */
  OAUTH_CLIENT_ID?: string;
  /** `sub` (default) or `org_id`. */
  TENANT_CLAIM?: string;
  /** Space separated `sandbox:*` scopes of a token that carries none. Default: none. */
  DEFAULT_SCOPES?: string;
  /** Required, a secret of at least 32 characters. Encrypts the cookies. */
  SESSION_SECRET?: string;
  /** Required. Where people reach this Worker: `https://…`, or `http://` on loopback. */
  PUBLIC_ORIGIN?: string;
  /** Comma separated `host[:port]`, beside that of PUBLIC_ORIGIN. */
  ALLOWED_HOSTS?: string;
  /** Comma separated `https://HOST[:PORT]`: the pages that may connect to a route that has such a list. Default: any. */
  ALLOWED_ORIGINS?: string;
}

export interface AuthSettings extends VerifyOptions {
  readonly issuer: string;
  readonly jwksUri: string;
  readonly introspectionUri: string;
  readonly authorizeUri: string;
  readonly tokenUri: string;
  /** Never empty. */
  readonly audience: readonly string[];
  readonly clientId: string | undefined;
  readonly tenantClaim: TenantClaim;
  readonly defaultScopes: readonly string[];
  readonly sessionSecret: string;
  /** Scheme, host and port, no slash at the end. */
  readonly publicOrigin: string;
  /** `host[:port]`, lower case, no default port. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Empty: any origin, and none. */
  readonly allowedOrigins: ReadonlySet<string>;
}

/** Shorter secrets also fall into the weak key form that oauth.do still reads. */
const MIN_SECRET_CHARACTERS = 32;
const LOOPBACK_HOSTNAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** A deployment's variables do not change, and every request asks for them. */
const known = new WeakMap<AuthEnv, AuthSettings>();

/** @throws {AuthFault} `misconfigured`, naming the variable and never its value. */
export function readAuthSettings(env: AuthEnv): AuthSettings {
  let settings = known.get(env);
  if (settings === undefined) {
    settings = parseAuthSettings(env);
    known.set(env, settings);
  }
  return settings;
}

function parseAuthSettings(env: AuthEnv): AuthSettings {
  const issuer = readUrl("OAUTH_ISSUER", required("OAUTH_ISSUER", env.OAUTH_ISSUER));
  const base = issuer.replace(/\/$/, "");
  const audience = list(env.OAUTH_AUDIENCE, ",");
  if (audience.length === 0) {
    throw misconfigured("OAUTH_AUDIENCE must list the clients whose tokens are accepted: without it anyone gets in");
  }
  const clientId = env.OAUTH_CLIENT_ID || undefined;
  if (clientId !== undefined && !audience.includes(clientId)) {
    throw misconfigured("OAUTH_CLIENT_ID must be in OAUTH_AUDIENCE: the browser's own tokens would be refused");
  }
  const sessionSecret = required("SESSION_SECRET", env.SESSION_SECRET);
  if (sessionSecret.length < MIN_SECRET_CHARACTERS) {
    throw misconfigured(`SESSION_SECRET must have at least ${MIN_SECRET_CHARACTERS} characters`);
  }
  const publicOrigin = readOrigin(required("PUBLIC_ORIGIN", env.PUBLIC_ORIGIN));
  return {
    issuer,
    jwksUri: readUrl("OAUTH_JWKS_URI", env.OAUTH_JWKS_URI || `${base}/.well-known/jwks.json`),
    introspectionUri: readUrl("OAUTH_INTROSPECTION_URI", env.OAUTH_INTROSPECTION_URI || `${base}/oauth/introspect`),
    authorizeUri: readUrl("OAUTH_AUTHORIZE_URI", env.OAUTH_AUTHORIZE_URI || `${base}/oauth/authorize`),
    tokenUri: readUrl("OAUTH_TOKEN_URI", env.OAUTH_TOKEN_URI || `${base}/oauth/token`),
    audience,
    resource: `${publicOrigin}/mcp`,
    clientId,
    tenantClaim: readTenantClaim(env.TENANT_CLAIM || "sub"),
    defaultScopes: readDefaultScopes(env.DEFAULT_SCOPES),
    sessionSecret,
    publicOrigin,
    allowedHosts: readAllowedHosts(env.ALLOWED_HOSTS, publicOrigin),
    allowedOrigins: new Set(list(env.ALLOWED_ORIGINS, ",").map(readListedOrigin)),
  };
}

/**
 * A service of the deployment's own, which is shown credentials.
 * @returns The URL without a slash at its end; undefined where the variable is empty.
 * @throws {AuthFault} `misconfigured`.
 */
export function readServiceUrl(name: string, value: string | undefined): string | undefined {
  if (!value) return undefined;
  const url = URL.parse(value.replace("{sandbox}", "sandbox"));
  if (!url || !isTrustworthy(url) || url.search || url.hash) {
    throw misconfigured(`${name} must be an https URL, or http on loopback, with no query`);
  }
  return value.replace(/\/+$/, "");
}

function misconfigured(message: string): AuthFault {
  return new AuthFault("misconfigured", `This server is not set up: ${message}`);
}

function required(name: string, value: string | undefined): string {
  if (!value) throw misconfigured(`${name} is missing`);
  return value;
}

function list(value: string | undefined, separator: string): string[] {
  return (value ?? "")
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Checks and returns `value` itself: an issuer is compared as text, so it must not be rewritten. */
function readUrl(name: string, value: string): string {
  const url = URL.parse(value);
  if (!url || !isTrustworthy(url)) throw misconfigured(`${name} must be an https URL, or http on loopback`);
  return value;
}

function readOrigin(value: string): string {
  const url = URL.parse(value);
  if (!url || !isTrustworthy(url) || (url.origin !== value && `${url.origin}/` !== value)) {
    throw misconfigured("PUBLIC_ORIGIN must be https://HOST[:PORT], or http on loopback, with no path");
  }
  return url.origin;
}

function readListedOrigin(value: string): string {
  const origin = URL.parse(value)?.origin;
  if (origin !== value) throw misconfigured("ALLOWED_ORIGINS must hold origins such as https://HOST, comma separated");
  return origin;
}

/** Keys and tokens that travel in the clear can be replaced on the way; loopback has no way. */
export function isTrustworthy(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK_HOSTNAMES.has(url.hostname));
}

function readTenantClaim(value: string): TenantClaim {
  if (value !== "sub" && value !== "org_id") throw misconfigured('TENANT_CLAIM must be "sub" or "org_id"');
  return value;
}

function readDefaultScopes(value: string | undefined): string[] {
  const scopes = list(value, " ");
  if (!scopes.every(isSandboxScope)) {
    throw misconfigured("DEFAULT_SCOPES may only hold sandbox:connect, sandbox:exec and sandbox:admin");
  }
  return scopes;
}

function readAllowedHosts(value: string | undefined, publicOrigin: string): Set<string> {
  const { host, hostname, port, protocol } = new URL(publicOrigin);
  const hosts = new Set([host]);
  for (const item of list(value, ",")) {
    const url = URL.parse(`${protocol}//${item}`);
    if (!url?.host || url.href !== `${url.origin}/` || url.username || url.password) {
      throw misconfigured("ALLOWED_HOSTS must hold HOST or HOST:PORT, comma separated");
    }
    hosts.add(url.host);
  }
  if (LOOPBACK_HOSTNAMES.has(hostname)) {
    const suffix = port === "" ? "" : `:${port}`;
    hosts.add(`localhost${suffix}`).add(`127.0.0.1${suffix}`);
  }
  return hosts;
}
