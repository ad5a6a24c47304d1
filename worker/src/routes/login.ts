// The browser's login, as routes to be mounted at the root: /login, /callback, /logout, /api/me and its renewal.
// No answer holds a token; the page learns who it is and nothing that opens a door.

import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { defined } from "sandbox-stdio/core";
import { actorOf } from "../audit/worker-log.ts";
import { identityOfSession } from "../auth/authenticate.ts";
import {
  authorizeUrl,
  beginRenewal,
  clientId,
  endRenewal,
  exchangeCode,
  type IssuedTokens,
  openRenewal,
  type Renewal,
  randomText,
  refreshTokens,
  renewableUntilMs,
  renewalCookieName,
} from "../auth/code-flow.ts";
import { cookieValue } from "../auth/cookie.ts";
import { type Identity, identityFrom } from "../auth/identity.ts";
import { verifyJwt } from "../auth/jwt.ts";
import { tenantKey } from "../auth/names.ts";
import { requireAllowedHost, requirePublicOrigin } from "../auth/origin.ts";
import { beginLogin, endLogin, loginCookieName, openLogin, type PendingLogin } from "../auth/pending-login.ts";
import { beginSession, endSession, openSession, type Session, sessionCookieName } from "../auth/session.ts";
import { type AuthSettings, readAuthSettings } from "../auth/settings.ts";
import { isJwtShaped } from "../auth/token-shape.ts";
import { acceptedIssuers, verifyToken } from "../auth/verify-token.ts";
import { type IdentifyEnv, identify, requireUnrevoked } from "../guards/identify.ts";
import { revocableOf } from "../limits/revocation.ts";
import { AuthFault, logFault, refusal } from "../refusal/fault.ts";

type LoginContext = Context<{ Bindings: IdentifyEnv }>;

/** Longer than any address of ours, short enough for the cookie. */
const MAX_RETURN_TO = 1024;

export const loginRoutes = new Hono<{ Bindings: IdentifyEnv }>();

loginRoutes.get("/login", (c) => asPage(c, startLogin));
loginRoutes.get("/callback", (c) => asPage(c, finishLogin));

loginRoutes.post("/logout", (c) =>
  asJson(c, async (settings) => {
    requirePublicOrigin(c.req.raw, settings);
    await endLoginHere(c, settings);
    c.header("Set-Cookie", endSession(settings), { append: true });
    c.header("Set-Cookie", endRenewal(settings), { append: true });
    return c.body(null, 204);
  }),
);

loginRoutes.get("/api/me", (c) =>
  asJson(c, async (settings) => {
    const renewal = await renewalOf(c, settings);
    try {
      const { identity } = await identify(c.req.raw, c.env);
      return c.json(meOf(identity, renewal, settings));
    } catch (error) {
      if (!(error instanceof AuthFault)) throw error;
      if (error.code === "revoked") {
        return c.json({ authenticated: false, error: error.code, message: error.message }, error.status);
      }
      // Not to be logged in is an answer here, not an error.
      if (error.status === 401) return c.json({ authenticated: false, ...(renewal && { renewable: true }) });
      throw error;
    }
  }),
);

loginRoutes.post("/api/me/renew", (c) =>
  asJson(c, async (settings) => {
    requirePublicOrigin(c.req.raw, settings);
    const renewal = await renewalOf(c, settings);
    if (renewal === undefined) throw new AuthFault("bad_session", "The login can't be renewed, log in again");
    return c.json(meOf(await renewLogin(c, renewal, settings), renewal, settings));
  }),
);

/** The parts of an identity that a page is told, and whether the page may renew it. */
function meOf(identity: Identity, renewal: Renewal | undefined, { homeSandbox: home, hasPreviews }: AuthSettings) {
  const { subject, email, name, scopes, expiresAt } = identity;
  const sandboxScopes = [...scopes].filter((scope) => scope.startsWith("sandbox:")).sort();
  const until = new Date(expiresAt * 1000).toISOString();
  const me = { authenticated: true, subject, name, email, scopes: sandboxScopes, expiresAt: until };
  return { ...me, ...(renewal && { renewable: true }), ...(home && { home }), ...(hasPreviews && { previews: true }) };
}

async function renewalOf(c: LoginContext, settings: AuthSettings): Promise<Renewal | undefined> {
  const cookie = cookieValue(c.req.raw, renewalCookieName(settings));
  return cookie === undefined ? undefined : openRenewal(cookie, settings);
}

/**
 * Ends the cookie's login for every copy of the cookie, and the connections that rest on it.
 * @throws {AuthFault} `issuer_unreachable`, where it can't be said whose it is: then it has not ended.
 */
async function endLoginHere(c: LoginContext, settings: AuthSettings): Promise<void> {
  const cookie = cookieValue(c.req.raw, sessionCookieName(settings));
  if (cookie === undefined) return;
  let session: Session;
  let identity: Identity;
  // A copy of the cookie that renews it may be used for as long.
  const renewableUntil = renewableUntilMs(settings);
  try {
    session = await openSession(cookie, settings);
    identity = await identityOfSession(session, settings);
  } catch (error) {
    if (error instanceof AuthFault && error.status === 401) return; // It opens nothing any more.
    throw error;
  }
  const tenant = c.env.TENANT.getByName(await tenantKey(identity));
  const login = { kind: "login", value: session.id, untilMs: Math.max(session.expiresAt, renewableUntil) } as const;
  await tenant.revoke(login, actorOf(c.req.raw, identity));
}

async function startLogin(c: LoginContext, settings: AuthSettings): Promise<Response> {
  clientId(settings); // before anything else: without a client there is nowhere to go
  const requested = c.req.query("return_to");
  // Hosts, not schemes: behind a tunnel that ends TLS, the scheme seen here is never the public one.
  if (new URL(c.req.url).host !== new URL(settings.publicOrigin).host) {
    // The issuer comes back to the public origin, and the cookie has to be there already.
    const url = new URL("/login", settings.publicOrigin);
    if (requested !== undefined) url.searchParams.set("return_to", requested);
    return c.redirect(url.href);
  }
  const pending: PendingLogin = {
    state: randomText(),
    nonce: randomText(),
    verifier: randomText(),
    returnTo: returnTarget(requested, settings.publicOrigin),
  };
  c.header("Set-Cookie", await beginLogin(pending, settings));
  return c.redirect(await authorizeUrl(pending, settings));
}

async function finishLogin(c: LoginContext, settings: AuthSettings): Promise<Response> {
  const cookie = cookieValue(c.req.raw, loginCookieName(settings));
  const pending = cookie === undefined ? undefined : await openLogin(cookie, settings);
  const { state, code, iss, error } = c.req.query();
  if (pending === undefined || state !== pending.state) {
    throw new AuthFault("bad_login", "This login was not begun in this browser, or took too long");
  }
  // Only now: a stranger's link to this address must not end a login that is under way.
  c.header("Set-Cookie", endLogin(settings), { append: true });
  // RFC 9207: if the answer names its issuer, that must be ours.
  if (iss !== undefined && !acceptedIssuers(settings.issuer).includes(iss)) {
    throw new AuthFault("wrong_issuer", "The login came back from another issuer");
  }
  if (error !== undefined || !code) throw new AuthFault("login_failed", "The issuer refused the login");
  const tokens = await exchangeCode(code, pending.verifier, settings);
  const { session } = await sessionFrom(tokens, { id: crypto.randomUUID(), nonce: pending.nonce }, c.env, settings);
  await keep(c, session, tokens.refreshToken, settings);
  return c.redirect(pending.returnTo);
}

/** Sets the cookies of a login. One that can't be renewed leaves none of an earlier login's behind. */
async function keep(
  c: LoginContext,
  session: Session,
  refreshToken: string | undefined,
  settings: AuthSettings,
): Promise<void> {
  c.header("Set-Cookie", await beginSession(session, settings), { append: true });
  const { id: loginId, userId, scope, email, name } = session;
  const who = { loginId, userId, ...(scope && { scope }), ...(email && { email }), ...(name && { name }) };
  const renewal = refreshToken && (await beginRenewal({ ...who, refreshToken }, settings));
  if (renewal) c.header("Set-Cookie", renewal, { append: true });
  else if (cookieValue(c.req.raw, renewalCookieName(settings)) !== undefined) {
    c.header("Set-Cookie", endRenewal(settings), { append: true });
  }
}

/**
 * Renews a login without its person: with the refresh token that the cookie holds, under the login's own id, so that logging
 * out ends it with everything that rests on it.
 * @throws {AuthFault} `login_failed`, `revoked`, `issuer_unreachable`.
 */
async function renewLogin(c: LoginContext, renewal: Renewal, settings: AuthSettings): Promise<Identity> {
  const tokens = await refreshTokens(renewal.refreshToken, settings);
  const { session, identity } = await sessionFrom(tokens, { id: renewal.loginId, renewal }, c.env, settings);
  await keep(c, session, tokens.refreshToken ?? renewal.refreshToken, settings);
  return identity;
}

/** The parts of a login: the id that ends it, and the nonce of a fresh one or the renewal that goes before. */
type LoginParts = { readonly id: string; readonly nonce?: string; readonly renewal?: Renewal };

async function sessionFrom(
  tokens: IssuedTokens,
  { id, nonce, renewal }: LoginParts,
  env: IdentifyEnv,
  settings: AuthSettings,
): Promise<{ readonly session: Session; readonly identity: Identity }> {
  const { accessToken, idToken } = tokens;
  // An opaque access token would have to be asked about again and again; the ID token proves itself.
  const token = isJwtShaped(accessToken) ? accessToken : (idToken ?? accessToken);
  const verified = await verifyToken(token, settings);
  const person = idToken === undefined ? verified : await verifyIdToken(idToken, nonce, settings);
  if (person.subject !== verified.subject || (renewal !== undefined && renewal.userId !== verified.subject)) {
    throw new AuthFault("login_failed", "The issuer's tokens are of two different people");
  }
  // Fields that the issuer leaves out when it renews keep their values (RFC 6749, 6).
  const { scope, email, name } = { ...renewal, ...person, ...(tokens.scope && { scope: tokens.scope }) };
  const session = {
    id,
    userId: verified.subject,
    accessToken: token,
    expiresAt: verified.expiresAt * 1000,
    ...defined({ scope, email, name }),
  };
  const identity = await identityOfSession(session, settings);
  await requireUnrevoked(env, identity, identity.subject, revocableOf(identity));
  return { session, identity };
}

interface Person {
  readonly subject: string;
  readonly email?: string;
  readonly name?: string;
}

/** @param nonce Absent: the token was renewed, and need not name the one that its login began with. */
async function verifyIdToken(idToken: string, nonce: string | undefined, settings: AuthSettings): Promise<Person> {
  const { jwksUri } = settings;
  const audience = [clientId(settings)];
  const claims = await verifyJwt(idToken, { issuers: acceptedIssuers(settings.issuer), audience, jwksUri });
  if (nonce !== undefined && claims.nonce !== nonce)
    throw new AuthFault("bad_login", "The issuer's token is of another login");
  // The tenant is the access token's matter, and an ID token may lack its claim.
  return identityFrom(claims, { issuer: settings.tenantIssuer });
}

/** The address after the login: `requested` if it is a path here, else the root. An absolute URL of ours. */
export function returnTarget(requested: string | undefined, publicOrigin: string): string {
  const home = `${publicOrigin}/`;
  if (!requested?.startsWith("/") || requested.length > MAX_RETURN_TO) return home;
  // Parsed as a browser would: "//elsewhere", "/\elsewhere" and their like are not paths.
  const url = URL.parse(requested, publicOrigin);
  if (url?.origin !== publicOrigin || url.pathname === "/login" || url.pathname === "/callback") return home;
  // Never the path alone: "/.//elsewhere" becomes "//elsewhere" once parsed.
  return `${publicOrigin}${url.pathname}${url.search}${url.hash}`;
}

type Handler = (c: LoginContext, settings: AuthSettings) => Promise<Response>;

async function asPage(c: LoginContext, handle: Handler): Promise<Response> {
  // The callback's address holds the code.
  c.header("Referrer-Policy", "no-referrer");
  c.header("Cache-Control", "no-store");
  try {
    const settings = readAuthSettings(c.env);
    requireAllowedHost(c.req.raw, settings);
    return await handle(c, settings);
  } catch (error) {
    if (!(error instanceof AuthFault)) throw error;
    logFault(error);
    c.header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Not logged in</title>
<h1>Not logged in</h1><p>${error.message} (${error.code}).</p><p><a href="/login">Log in again</a></p></html>`;
    return c.html(page, error.status);
  }
}

async function asJson(
  c: LoginContext,
  handle: (settings: AuthSettings) => Response | Promise<Response>,
): Promise<Response> {
  c.header("Cache-Control", "no-store");
  try {
    const settings = readAuthSettings(c.env);
    requireAllowedHost(c.req.raw, settings);
    return await handle(settings);
  } catch (error) {
    if (error instanceof AuthFault) return refusal(error);
    throw error;
  }
}
