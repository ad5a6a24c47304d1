// The authentication variables of the environment, read and checked in one place.
// Knows nothing of requests. A deployment that is set up wrongly is refused here, with the variable's name.

import {
  type EntryEnv,
  type EntrySettings,
  isPlainAllowed,
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
  /** The exact `iss` of accepted tokens. Required. */
  OAUTH_ISSUER?: string;
  /** The issuer's keys. Default: the issuer and `/.well-known/jwks.json`. */
  OAUTH_JWKS_URI?: string;
  /** Introspection of opaque tokens. Default: the issuer and `/oauth/introspect`. */
  OAUTH_INTROSPECTION_URI?: string;
  /** The login. Default: the issuer and `/oauth/authorize`. */
  OAUTH_AUTHORIZE_URI?: string;
  /** Codes and refresh tokens. Default: the issuer and `/oauth/token`. */
  OAUTH_TOKEN_URI?: string;
  /**
   * Clients, comma separated, whose tokens are accepted; anyone can register others. Their tokens may also have
   * `PUBLIC_ORIGIN/mcp` as `aud`. Required.
   */
  OAUTH_AUDIENCE?: string;
  /** The client of the browser's login, one of `OAUTH_AUDIENCE`. Default: no browser login. */
  OAUTH_CLIENT_ID?: string;
  /**
   * What the browser's login asks for, space separated; some issuers need `offline_access` for refresh tokens. Default:
   * `openid profile email`.
   */
  OAUTH_LOGIN_SCOPE?: string;
  /** Hours, 0 to 999, after the last renewal at which a browser login ends; 0: never renewed. Default: 12. */
  LOGIN_RENEW_HOURS?: string;
  /** The sandbox that the page opens if its address names none and nothing was opened before. Default: `default`. */
  HOME_SANDBOX?: string;
  /** `*.HOST` or `*.HOST:PORT`: the hosts of previews. `npm start` sets `*.localhost:PORT`. Default: no previews. */
  readonly PREVIEW_HOST?: string;
  /** Names the issuer in the names of what its people own, where its address may change. Default: `OAUTH_ISSUER`. */
  TENANT_ISSUER?: string;
  /** `sub` or `org_id`: who shares sandboxes. Default: `sub`. */
  TENANT_CLAIM?: string;
  /** `sandbox:*` scopes, space separated, of a token that carries none. Default: none. */
  DEFAULT_SCOPES?: string;
}

export interface AuthSettings extends VerifyOptions, EntrySettings {
  readonly issuer: string;
  readonly tenantIssuer: string;
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
  const isPlainToo = isPlainAllowed(env);
  const readUrl = (name: string, value: string): string => checkedUrl(name, value, isPlainToo);
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
    tenantIssuer: env.TENANT_ISSUER || issuer,
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
function checkedUrl(name: string, value: string, isPlainToo: boolean): string {
  const url = URL.parse(value);
  if (!url || !isTrustworthy(url, isPlainToo)) throw misconfigured(`${name} must be an https URL, or http on loopback`);
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
