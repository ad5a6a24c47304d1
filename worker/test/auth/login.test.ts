// The browser's login, from the button to the cookie, against the test issuer; and everything that must not work.
import { Hono } from "hono";
import { afterEach, describe, expect, test } from "vitest";
import { seal } from "../../src/auth/envelope.ts";
import { tenantKey } from "../../src/auth/names.ts";
import { openLogin } from "../../src/auth/pending-login.ts";
import { readAuthSettings } from "../../src/auth/settings.ts";
import { loginRoutes, returnTarget } from "../../src/routes/login.ts";
import { Browser } from "./browser.ts";
import { advanceClock, restoreClock } from "./clock.ts";
import { newRealm, ORIGIN, OTHER_CLIENT, seconds } from "./realm.ts";

afterEach(restoreClock);

// Mounted as the Worker mounts it.
const app = new Hono().route("/", loginRoutes);

const SESSION = "__Host-sbx_session";
const LOGIN = "__Host-sbx_login";

describe("a login", () => {
  test("ends with a session, at the path where it began", async () => {
    const browser = new Browser(app, newRealm());
    const response = await browser.request(await browser.throughIssuer("/login?return_to=%2Fs%2Fdev%3Fa%3D1%23top"));
    expect([response.status, response.headers.get("Location")]).toEqual([302, `${ORIGIN}/s/dev?a=1#top`]);
    expect([...browser.cookies.keys()]).toEqual([SESSION]);
    expect(await browser.me()).toEqual({
      authenticated: true,
      subject: "alice",
      name: "Alice",
      email: "alice@example.test",
      scopes: ["sandbox:connect"],
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
    });
  });

  test("with an opaque access token keeps the ID token, and the scopes that were granted", async () => {
    const realm = newRealm();
    await realm.set({ accessToken: "opaque", scope: "openid sandbox:exec" });
    const browser = new Browser(app, realm);
    expect((await browser.request(await browser.throughIssuer())).status).toBe(302);
    expect(await browser.me()).toMatchObject({ subject: "alice", scopes: ["sandbox:connect", "sandbox:exec"] });
    expect(await realm.counts()).toEqual({ jwks: 1, introspect: 0, token: 1, validate: 0 });
  });

  test("with an opaque access token and no ID token asks about it on each use", async () => {
    const realm = newRealm();
    const answer = { active: true, client_id: OTHER_CLIENT, sub: "alice", exp: seconds(60), scope: "sandbox:admin" };
    await realm.set({ accessToken: "opaque", idToken: false, opaque: { [`at_${"0".repeat(48)}`]: answer } });
    const browser = new Browser(app, realm);
    expect((await browser.request(await browser.throughIssuer())).status).toBe(302);
    expect(await browser.me()).toMatchObject({ scopes: ["sandbox:admin", "sandbox:connect", "sandbox:exec"] });
  });

  test("sends a fresh state, nonce and S256 challenge, and nothing secret", async () => {
    const browser = new Browser(app, newRealm());
    const urls: URL[] = [];
    for (let i = 0; i < 2; i++) urls.push(new URL((await browser.request("/login")).headers.get("Location") ?? ""));
    for (const { searchParams } of urls) {
      expect([...searchParams.keys()].sort()).toEqual([
        "client_id",
        "code_challenge",
        "code_challenge_method",
        "nonce",
        "redirect_uri",
        "response_type",
        "scope",
        "state",
      ]);
      expect(searchParams.get("client_id")).toBe(OTHER_CLIENT);
      expect(searchParams.get("redirect_uri")).toBe(`${ORIGIN}/callback`);
      expect(searchParams.get("code_challenge_method")).toBe("S256");
    }
    for (const name of ["state", "nonce", "code_challenge"]) {
      const [one, other] = urls.map((url) => url.searchParams.get(name));
      expect(one).toMatch(/^[\w-]{43}$/);
      expect(one).not.toBe(other);
    }
  });

  test("is out of reach of scripts, is over in ten minutes, and is not cached", async () => {
    const response = await new Browser(app, newRealm()).request("/login");
    expect(response.headers.get("Set-Cookie")).toMatch(
      /^__Host-sbx_login=[\w+/=]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("Referrer-Policy")).toBe("no-referrer");
  });

  test("begun under another allowed name moves to the public origin first", async () => {
    const realm = newRealm();
    const env = { ...realm.env, PUBLIC_ORIGIN: "http://localhost:8787" };
    const response = await app.request("http://127.0.0.1:8787/login?return_to=%2Fs%2Fdev", {}, env);
    expect(response.headers.get("Location")).toBe("http://localhost:8787/login?return_to=%2Fs%2Fdev");
    expect(response.headers.get("Set-Cookie")).toBe(null);
  });

  test("behind a tunnel that ends TLS goes to the issuer, not round and round", async () => {
    const realm = newRealm();
    const response = await app.request("http://sbx.example/login", {}, realm.env);
    expect(response.headers.get("Location")?.startsWith(`${realm.issuer}/oauth/authorize?`)).toBe(true);
  });
});

describe("a callback is refused", () => {
  /** Asserts the page, and that nobody is logged in. */
  async function expectRefused(browser: Browser, path: string, status: number, code: string): Promise<void> {
    const response = await browser.request(path);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(`(${code})`);
    expect(browser.cookies.has(SESSION)).toBe(false);
    expect(await browser.me()).toEqual({ authenticated: false });
  }

  test("with another state, and the login that is under way goes on", async () => {
    const browser = new Browser(app, newRealm());
    const back = new URL(await browser.throughIssuer());
    const forged = new URL(back);
    forged.searchParams.set("state", "A".repeat(43));
    await expectRefused(browser, forged.href, 400, "bad_login");
    forged.searchParams.delete("state");
    await expectRefused(browser, forged.href, 400, "bad_login");
    expect((await browser.request(back.href)).status).toBe(302);
    expect(browser.cookies.has(SESSION)).toBe(true);
  });

  test("in a browser that did not begin the login: nobody is logged in as someone else", async () => {
    const realm = newRealm();
    const attacker = new Browser(app, realm);
    const back = await attacker.throughIssuer();
    await expectRefused(new Browser(app, realm), back, 400, "bad_login");
    const victim = new Browser(app, realm);
    await victim.throughIssuer();
    await expectRefused(victim, back, 400, "bad_login");
    expect(await realm.counts()).toMatchObject({ token: 0 });
  });

  test("the second time", async () => {
    const realm = newRealm();
    const browser = new Browser(app, realm);
    const back = await browser.throughIssuer();
    await browser.request(back);
    expect((await browser.request(back)).status).toBe(400);
    expect(await realm.counts()).toMatchObject({ token: 1 });
  });

  test("after ten minutes", async () => {
    const browser = new Browser(app, newRealm());
    const back = await browser.throughIssuer();
    advanceClock(600_000);
    await expectRefused(browser, back, 400, "bad_login");
  });

  test("with a session's cookie in the place of the login's", async () => {
    const browser = new Browser(app, newRealm());
    await browser.request(await browser.throughIssuer());
    const session = browser.cookies.get(SESSION) ?? "";
    browser.cookies.clear();
    browser.cookies.set(LOGIN, session);
    await expectRefused(browser, "/callback?code=x&state=x", 400, "bad_login");
  });

  test("with a login's cookie under the session's key", async () => {
    const realm = newRealm();
    const fields = { userId: "login", accessToken: "state", nonce: "n", verifier: "v", returnTo: `${ORIGIN}/` };
    const settings = readAuthSettings(realm.env);
    const value = await seal({ ...fields, expiresAt: Date.now() + 60_000 }, settings.sessionSecret);
    expect(await openLogin(value, settings)).toBe(undefined);
  });

  test("with the login's cookie in the place of the session's", async () => {
    const browser = new Browser(app, newRealm());
    await browser.request("/login");
    const login = browser.cookies.get(LOGIN) ?? "";
    browser.cookies.clear();
    browser.cookies.set(SESSION, login);
    expect(await browser.me()).toEqual({ authenticated: false });
  });

  test("with a code that the issuer did not give for this login", async () => {
    const realm = newRealm();
    const other = new URL(await new Browser(app, realm).throughIssuer());
    const browser = new Browser(app, realm);
    const back = new URL(await browser.throughIssuer());
    back.searchParams.set("code", other.searchParams.get("code") ?? "");
    await expectRefused(browser, back.href, 401, "login_failed");
  });

  test("when it names another issuer", async () => {
    const browser = new Browser(app, newRealm());
    const back = new URL(await browser.throughIssuer());
    back.searchParams.set("iss", "https://elsewhere.example");
    await expectRefused(browser, back.href, 401, "wrong_issuer");
  });

  test("when the person refused, and nothing of the address is shown", async () => {
    const browser = new Browser(app, newRealm());
    const back = new URL(await browser.throughIssuer());
    back.searchParams.delete("code");
    back.searchParams.set("error", "<script>access_denied</script>");
    back.searchParams.set("error_description", "<script>");
    const response = await browser.request(back.href);
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("script");
    expect(response.headers.get("Content-Security-Policy")).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  const claims: [string, Record<string, unknown>, Record<string, unknown>, number, string][] = [
    ["whose token is for another client", { aud: "elsewhere" }, {}, 401, "wrong_audience"],
    ["whose token is from another issuer", { iss: "https://elsewhere.example" }, {}, 401, "wrong_issuer"],
    ["whose token has expired", { exp: seconds(-60) }, {}, 401, "expired"],
    ["whose ID token is of another login", {}, { nonce: "other" }, 400, "bad_login"],
    ["whose ID token is of no login", {}, { nonce: null }, 400, "bad_login"],
    ["whose ID token is another person's", {}, { sub: "bob" }, 401, "login_failed"],
    ["whose ID token is for another of our clients", {}, { aud: "sbx-cli" }, 401, "wrong_audience"],
  ];
  test.each(claims)("with a code %s", async (_, common, idClaims, status, code) => {
    const realm = newRealm();
    await realm.set({ claims: common, idClaims });
    const browser = new Browser(app, realm);
    await expectRefused(browser, await browser.throughIssuer(), status, code);
  });

  test("when the token has no tenant", async () => {
    const realm = newRealm();
    const browser = new Browser(app, { ...realm, env: { ...realm.env, TENANT_CLAIM: "org_id" } });
    await expectRefused(browser, await browser.throughIssuer(), 403, "no_tenant");
  });

  test("when the issuer fails", async () => {
    const realm = newRealm();
    const browser = new Browser(app, realm);
    const back = await browser.throughIssuer();
    await realm.set({ down: true });
    await expectRefused(browser, back, 503, "issuer_unreachable");
  });
});

test("a login of somebody who was revoked is none", async () => {
  const realm = newRealm();
  const tenant = { issuer: realm.issuer, tenantClaim: "sub", tenantValue: "alice" } as const;
  const by = { tenant: "alice", user: "admin", address: "" };
  await realm.env.TENANT.getByName(await tenantKey(tenant)).revoke({ kind: "sub", value: "alice" }, by);
  const browser = new Browser(app, realm);
  const response = await browser.request(await browser.throughIssuer());
  expect([response.status, await response.text()]).toEqual([401, expect.stringContaining("(revoked)")]);
  expect([...browser.cookies.keys()]).toEqual([]);
});

describe("logout", () => {
  test("from our own page ends the session", async () => {
    const browser = new Browser(app, newRealm());
    await browser.request(await browser.throughIssuer());
    const response = await browser.request("/logout", { method: "POST", headers: { Origin: ORIGIN } });
    expect([response.status, browser.cookies.size]).toEqual([204, 0]);
    expect(await browser.me()).toEqual({ authenticated: false });
  });

  test("ends the login for every copy of its cookie, for good, and no other login of the person", async () => {
    const realm = newRealm();
    const [browser, other] = [new Browser(app, realm), new Browser(app, realm)];
    for (const one of [browser, other]) await one.request(await one.throughIssuer());
    const copy = new Browser(app, realm);
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    expect(await copy.me()).toMatchObject({ authenticated: true });
    await browser.request("/logout", { method: "POST", headers: { Origin: ORIGIN } });
    expect(await copy.me()).toEqual({ authenticated: false, error: "revoked", message: expect.any(String) });
    expect((await copy.request("/api/me")).status).toBe(401);
    expect(await other.me()).toMatchObject({ authenticated: true });
    // Once more changes nothing; nor does it with a cookie that never was one.
    const again = await copy.request("/logout", { method: "POST", headers: { Origin: ORIGIN } });
    expect(again.status).toBe(204);
    copy.cookies.set(SESSION, "garbage");
    expect((await copy.request("/logout", { method: "POST", headers: { Origin: ORIGIN } })).status).toBe(204);
    expect(await other.me()).toMatchObject({ authenticated: true });
  });

  test("whose person can't be told, since the issuer is away, is not said to have ended", async () => {
    const realm = newRealm();
    const answer = { active: true, client_id: OTHER_CLIENT, sub: "alice", exp: seconds(600) };
    await realm.set({ accessToken: "opaque", idToken: false, opaque: { [`at_${"0".repeat(48)}`]: answer } });
    const browser = new Browser(app, realm);
    await browser.request(await browser.throughIssuer());
    await realm.set({ down: true });
    advanceClock(61_000);
    const response = await browser.request("/logout", { method: "POST", headers: { Origin: ORIGIN } });
    expect([response.status, browser.cookies.size]).toEqual([503, 1]);
  });

  test("from another page, or by a link, does nothing", async () => {
    const browser = new Browser(app, newRealm());
    await browser.request(await browser.throughIssuer());
    for (const headers of [{ Origin: "https://evil.example" }, {}]) {
      const response = await browser.request("/logout", { method: "POST", headers });
      expect([response.status, await response.json()]).toMatchObject([403, { error: "bad_origin" }]);
    }
    expect((await browser.request("/logout")).status).toBe(404);
    expect(await browser.me()).toMatchObject({ authenticated: true });
  });
});

describe("/api/me", () => {
  test("knows a bearer token too, and never answers with a token", async () => {
    const realm = newRealm();
    const exp = seconds(60);
    const token = await realm.sign({ exp, scope: "sandbox:exec" });
    const response = await app.request(
      `${ORIGIN}/api/me`,
      { headers: { Authorization: `Bearer ${token}` } },
      realm.env,
    );
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({
      authenticated: true,
      subject: "alice",
      scopes: ["sandbox:connect", "sandbox:exec"],
      expiresAt: new Date(exp * 1000).toISOString(),
    });
    expect(text).not.toContain(token.split(".")[2]);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });

  test("that the issuer can't be reached is not the same as not being logged in", async () => {
    const realm = newRealm();
    await realm.set({ down: true });
    const headers = { Authorization: `Bearer ${await realm.sign()}` };
    const response = await app.request(`${ORIGIN}/api/me`, { headers }, realm.env);
    expect([response.status, await response.json()]).toMatchObject([503, { error: "issuer_unreachable" }]);
  });
});

describe("every route", () => {
  const routes = [
    ["GET", "/login"],
    ["GET", "/callback"],
    ["POST", "/logout"],
    ["GET", "/api/me"],
  ] as const;

  test.each(routes)("%s %s is refused under a name that is not ours", async (method, path) => {
    const init = { method, headers: { Origin: ORIGIN } };
    const response = await app.request(`https://evil.example${path}`, init, newRealm().env);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("bad_host");
    expect(response.headers.get("Set-Cookie")).toBe(null);
  });

  test.each(routes)("%s %s says what is missing in the settings", async (method, path) => {
    const { OAUTH_AUDIENCE: _, ...env } = newRealm().env;
    const response = await app.request(ORIGIN + path, { method, headers: { Origin: ORIGIN } }, env);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("OAUTH_AUDIENCE must list the clients whose tokens are accepted");
  });

  test("without a browser client there is no login", async () => {
    const { OAUTH_CLIENT_ID: _, ...env } = newRealm().env;
    const response = await app.request(`${ORIGIN}/login`, {}, env);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("OAUTH_CLIENT_ID is missing");
  });
});

describe("return_to", () => {
  test.each([
    ["/", "/"],
    ["/s/dev?x=1&y=%2F#z", "/s/dev?x=1&y=%2F#z"],
    ["/a/../b", "/b"],
    ["/.//evil.example", "//evil.example"],
    ["/@evil.example", "/@evil.example"],
  ])("%j is a path here", (requested, path) => {
    const target = returnTarget(requested, ORIGIN);
    expect(target).toBe(ORIGIN + path);
    expect(new URL(target).origin).toBe(ORIGIN);
  });

  test.each([
    undefined,
    "",
    "s/dev",
    "https://evil.example/",
    "https://sbx.example.evil.example/",
    "//evil.example",
    "//evil.example/path",
    "///evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\\\\evil.example",
    " //evil.example",
    "//evil.example@sbx.example:444/",
    "javascript:alert(1)",
    "data:text/html,x",
    "/login",
    "/callback?code=x",
    "/login?return_to=/login",
  ])("%j is not, and the root takes its place", (requested) => {
    expect(returnTarget(requested, ORIGIN)).toBe(`${ORIGIN}/`);
  });

  test("longer than 1024 characters is not, and the root takes its place", () => {
    expect(returnTarget(`/${"a".repeat(1023)}`, ORIGIN)).toBe(`${ORIGIN}/${"a".repeat(1023)}`);
    expect(returnTarget(`/${"a".repeat(1024)}`, ORIGIN)).toBe(`${ORIGIN}/`);
  });
});
