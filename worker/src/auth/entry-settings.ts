// The settings that hold however requests are authenticated: the server's own addresses, and its secret.

import { AuthFault } from "../refusal/fault.ts";

export interface EntryEnv {
  /** Secret, 32 characters or more: encrypts the login cookie, signs resume proofs. Required. */
  SESSION_SECRET?: string;
  /** Where people reach the Worker: `https://…`, or `http://` on loopback. Required. */
  PUBLIC_ORIGIN?: string;
  /** `1`: it and the issuer may be http beyond loopback. Default: they may not. */
  PLAIN_HTTP?: string;
  /** More hosts that the Worker answers for: `host[:port]`, comma separated. Default: none. */
  ALLOWED_HOSTS?: string;
  /**
   * Origins, comma separated, whose pages may connect to `/sandbox/terminal`, with the login's cookie too; others get
   * 403. Default: our own for the cookie, any for a token.
   */
  ALLOWED_ORIGINS?: string;
  /**
   * For an embedding Worker: issuers, comma separated, that MCP hosts are told of. Default: none; ours tells
   * `OAUTH_ISSUER`.
   */
  AUTHORIZATION_SERVERS?: string;
  /** The path below which the routes are; set by `createStdio` only. Default: none. */
  ROUTES_PREFIX?: string;
}

export interface EntrySettings {
  /** The owner of the subjects: a part of every name, so that two issuers' people never meet. */
  readonly tenantIssuer: string;
  readonly sessionSecret: string;
  /** Scheme, host and port, no slash at the end. */
  readonly publicOrigin: string;
  /** The address of a link that shares a session, without a slash at its end. */
  readonly linkBase: string;
  /** `host[:port]`, lower case, no default port. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Empty: any origin, and none. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** The servers where an MCP host may log in. */
  readonly authorizationServers: readonly string[];
}

/** Shorter secrets also fall into the weak key form that oauth.do still reads. */
const MIN_SECRET_CHARACTERS = 32;
/** Names of sandboxes are made of the issuer: they are to stay where a Worker moves to another address. */
const OWN_LOGINS = "own logins";
const LOOPBACK_HOSTNAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * @param issuer Absent: the Worker knows its users itself.
 * @throws {AuthFault} `misconfigured`, naming the variable and never its value.
 */
export function parseEntrySettings(env: EntryEnv, issuer?: string): EntrySettings {
  const sessionSecret = required("SESSION_SECRET", env.SESSION_SECRET);
  if (sessionSecret.length < MIN_SECRET_CHARACTERS) {
    throw misconfigured(`SESSION_SECRET must have at least ${MIN_SECRET_CHARACTERS} characters`);
  }
  const publicOrigin = readOrigin(required("PUBLIC_ORIGIN", env.PUBLIC_ORIGIN), isPlainAllowed(env));
  return {
    tenantIssuer: issuer ?? OWN_LOGINS,
    sessionSecret,
    publicOrigin,
    linkBase: `${publicOrigin}${env.ROUTES_PREFIX ?? ""}`,
    allowedHosts: readAllowedHosts(env.ALLOWED_HOSTS, publicOrigin),
    allowedOrigins: new Set(list(env.ALLOWED_ORIGINS, ",").map(readListedOrigin)),
    authorizationServers: issuer === undefined ? list(env.AUTHORIZATION_SERVERS, ",").map(readServer) : [issuer],
  };
}

export function misconfigured(message: string): AuthFault {
  return new AuthFault("misconfigured", `This server is not set up: ${message}`);
}

export function required(name: string, value: string | undefined): string {
  if (!value) throw misconfigured(`${name} is missing`);
  return value;
}

export function list(value: string | undefined, separator: string): string[] {
  return (value ?? "")
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

export const isPlainAllowed = ({ PLAIN_HTTP }: EntryEnv): boolean => PLAIN_HTTP === "1";

function readOrigin(value: string, isPlainToo: boolean): string {
  const url = URL.parse(value);
  if (!url || !isTrustworthy(url, isPlainToo) || (url.origin !== value && `${url.origin}/` !== value)) {
    throw misconfigured("PUBLIC_ORIGIN must be https://HOST[:PORT], or http on loopback, with no path");
  }
  return url.origin;
}

function readListedOrigin(value: string): string {
  const origin = URL.parse(value)?.origin;
  if (origin !== value) throw misconfigured("ALLOWED_ORIGINS must hold origins such as https://HOST, comma separated");
  return origin;
}

function readServer(value: string): string {
  const url = URL.parse(value);
  if (!url || !isTrustworthy(url)) throw misconfigured("AUTHORIZATION_SERVERS must hold https URLs, comma separated");
  return value;
}

/** Keys and tokens that travel in the clear can be replaced on the way; loopback has no way. */
export function isTrustworthy(url: URL, isPlainToo = false): boolean {
  const isHttp = url.protocol === "http:" && (isPlainToo || LOOPBACK_HOSTNAMES.has(url.hostname));
  return url.protocol === "https:" || isHttp;
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
