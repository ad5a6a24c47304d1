// The way to authenticate that somebody else's Worker gives: one function from a request to who it is, or why not. Where a page
// asks, its origin is checked here, whatever the function looks at: a browser adds cookies by itself.

import { defined } from "sandbox-stdio/core";
import { AuthFault } from "../refusal/fault.ts";
import { findCredential } from "./credentials.ts";
import { type EntryEnv, parseEntrySettings } from "./entry-settings.ts";
import { type Identity, identityFrom, MAX_TOKEN_SECONDS, parseScopes, withEnd } from "./identity.ts";
import { needsOrigin, requireAllowedHost, requirePublicOrigin } from "./origin.ts";
import type { AuthProvider } from "./provider.ts";

/** The caller, as the Worker knows its users. */
export type StdioIdentity = {
  /** The user's own id: at most 255 bytes of text. Never the id of another user. */
  readonly subject: string;
  /** The users with the same tenant share sandboxes. Default: every user has their own, by `subject`. */
  readonly tenant?: string;
  /** Shown to the others on a session. */
  readonly name?: string;
  /** `connect`: attach to what exists. `exec`: also start and type. `admin`: also take the keyboard and read the audit. Default: exec. */
  readonly scopes?: readonly ("connect" | "exec" | "admin")[];
  /** When the login ends, and with it every connection that rests on it. Default: 12 hours from now. */
  readonly expires?: Date;
  /** The login's own id, where it can be revoked by that. */
  readonly tokenId?: string;
};

export type StdioRefusal = {
  /** Told to the client. */
  readonly refused: string;
  /** 401 (the default): log in. 403: known, and not allowed. */
  readonly status?: 401 | 403;
};

/**
 * Called for each request, with the request's method, address and headers. What clients give as subprotocol `bearer.TOKEN`, since
 * a browser's WebSocket has no headers, is in `Authorization`.
 * @returns undefined for a caller that is not logged in.
 */
export type Authenticate<Env> = (
  request: Request,
  env: Env,
) => StdioIdentity | StdioRefusal | undefined | Promise<StdioIdentity | StdioRefusal | undefined>;

const LIFE_SECONDS = 12 * 3600;
const NO_COOKIE = "";

/** @param outerEnv Gives the environment of the outer Worker, to which the settings were added. */
export function ownProvider<Env>(authenticate: Authenticate<Env>, outerEnv: (env: object) => Env): AuthProvider {
  const settings = (env: object) => parseEntrySettings(env as EntryEnv);
  const ask = async (request: Request, env: object): Promise<Identity> => {
    const answer = await authenticate(request, outerEnv(env));
    if (answer === undefined) throw new AuthFault("no_token", "Log in");
    if ("refused" in answer) throw new AuthFault(answer.status === 403 ? "not_allowed" : "inactive", answer.refused);
    return identityOf(answer, settings(env).tenantIssuer);
  };
  return {
    settings,
    authenticate: async (request, env, cookieOrigins) => {
      const known = settings(env);
      requireAllowedHost(request, known);
      // Every browser adds one of these to each request of a page.
      const isPage = request.headers.has("Origin") || (request.headers.get("Sec-Fetch-Site") ?? "none") !== "none";
      if (isPage && needsOrigin(request)) {
        requirePublicOrigin(request, known, new Set([...known.allowedOrigins, ...(cookieOrigins ?? [])]));
      }
      const token = tokenOf(request);
      const identity = await ask(withToken(request, token), env);
      return { identity, source: isPage ? "cookie" : "authorization", token: token ?? "" };
    },
    verify: (token, env) => ask(withToken(new Request(settings(env).publicOrigin), token), env),
  };
}

function tokenOf(request: Request): string | undefined {
  const credential = findCredential(request, NO_COOKIE);
  return credential === undefined || credential.source === "query" ? undefined : credential.value;
}

/** Without the body, and nothing that a function could use up. */
function withToken({ method, url, headers }: Request, token: string | undefined): Request {
  const given = new Headers(headers);
  if (token !== undefined) given.set("Authorization", `Bearer ${token}`);
  return new Request(url, { method, headers: given });
}

function identityOf(answer: StdioIdentity, issuer: string): Identity {
  const { subject, tenant, name, scopes = ["exec"], expires, tokenId } = answer;
  const now = Math.floor(Date.now() / 1000);
  const exp = expires === undefined ? now + LIFE_SECONDS : Math.floor(expires.getTime() / 1000);
  const claims = {
    sub: subject,
    ...defined({ org_id: tenant }),
    exp: Math.min(exp, now + MAX_TOKEN_SECONDS),
    iat: now,
    scope: scopes.map((scope) => `sandbox:${scope}`).join(" "),
    ...defined({ name, jti: tokenId }),
  };
  if (exp <= now) throw new AuthFault("expired", "The login has ended");
  // A user without a tenant never meets a tenant that is called like the user.
  const tenantClaim = tenant === undefined ? "sub" : "org_id";
  const identity = withEnd(identityFrom(claims, { issuer, tenantClaim }));
  if (parseScopes(claims.scope).length === 0)
    throw new AuthFault("insufficient_scope", "This login may do nothing here");
  return identity;
}
