// The authentication variables of the environment, read and checked in one place.
// Knows nothing of requests. A deployment that is set up wrongly is refused here, with the variable's name.

import {
  type EntryEnv,
  type EntrySettings,
  isTrustworthy,
  list,
  misconfigured,
  parseEntrySettings,
  required,
} from "./entry-settings.ts";
import { isSandboxScope, type TenantClaim } from "./identity.ts";
import type { VerifyOptions } from "./verify-token.ts";

/** The variables and secrets of the Worker that concern authentication; all texts, as wrangler gives them. */
export interface AuthEnv extends EntryEnv {
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
  /** The scopes that the browser login asks for, space separated. Default: `openid profile email`. */
  OAUTH_LOGIN_SCOPE?: string;
  /** How many hours a login by browser can be renewed after it was last; 0: never. Default: 12. */
  LOGIN_RENEW_HOURS?: string;
  /** The sandbox that the page opens where its address names none. Default: `default`. */
  HOME_SANDBOX?: string;
  /** `*.HOST[:PORT]`, the hosts of previews; empty: there are none. */
  readonly PREVIEW_HOST?: string;
  /** `sub` (default) or `org_id`. */
  TENANT_CLAIM?: string;
  /** Space separated `sandbox:*` scopes of a token that carries none. Default: none. */
  DEFAULT_SCOPES?: string;
}

export interface AuthSettings extends VerifyOptions, EntrySettings {
  readonly issuer: string;
  readonly jwksUri: string;
  readonly introspectionUri: string;
  readonly authorizeUri: string;
  readonly tokenUri: string;
  /** Never empty. */
  readonly audience: readonly string[];
  readonly clientId: string | undefined;
  readonly loginScope: string;
  readonly renewHours: number;
  readonly homeSandbox: string | undefined;
  /** Whether servers in a sandbox can be looked at. */
  readonly hasPreviews: boolean;
  readonly tenantClaim: TenantClaim;
  readonly defaultScopes: readonly string[];
}

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
  const entry = parseEntrySettings(env, issuer);
  return {
    ...entry,
    issuer,
    jwksUri: readUrl("OAUTH_JWKS_URI", env.OAUTH_JWKS_URI || `${base}/.well-known/jwks.json`),
    introspectionUri: readUrl("OAUTH_INTROSPECTION_URI", env.OAUTH_INTROSPECTION_URI || `${base}/oauth/introspect`),
    authorizeUri: readUrl("OAUTH_AUTHORIZE_URI", env.OAUTH_AUTHORIZE_URI || `${base}/oauth/authorize`),
    tokenUri: readUrl("OAUTH_TOKEN_URI", env.OAUTH_TOKEN_URI || `${base}/oauth/token`),
    audience,
    resource: `${entry.publicOrigin}/mcp`,
    clientId,
    loginScope: env.OAUTH_LOGIN_SCOPE || "openid profile email",
    renewHours: readRenewHours(env.LOGIN_RENEW_HOURS || "12"),
    homeSandbox: env.HOME_SANDBOX || undefined,
    hasPreviews: Boolean(env.PREVIEW_HOST),
    tenantClaim: readTenantClaim(env.TENANT_CLAIM || "sub"),
    defaultScopes: readDefaultScopes(env.DEFAULT_SCOPES),
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

/** Checks and returns `value` itself: an issuer is compared as text, so it must not be rewritten. */
function readUrl(name: string, value: string): string {
  const url = URL.parse(value);
  if (!url || !isTrustworthy(url)) throw misconfigured(`${name} must be an https URL, or http on loopback`);
  return value;
}

function readRenewHours(value: string): number {
  // A revocation is remembered for longer than the longest of these.
  if (!/^\d{1,3}$/.test(value)) throw misconfigured("LOGIN_RENEW_HOURS must be a number of hours from 0 to 999");
  return Number(value);
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
