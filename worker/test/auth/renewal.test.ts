// A login that renews itself: what the cookie beside the session's is good for, and what it is not.
import { Hono } from "hono";
import { afterEach, describe, expect, test } from "vitest";
import { loginRoutes } from "../../src/routes/login.ts";
import { Browser } from "./browser.ts";
import { advanceClock, restoreClock } from "./clock.ts";
import { newRealm, ORIGIN, type Realm, seconds } from "./realm.ts";

afterEach(restoreClock);

const app = new Hono().route("/", loginRoutes);
const SESSION = "__Host-sbx_session";
const RENEWAL = "__Host-sbx_renewal";

async function loggedIn(realm: Realm): Promise<Browser> {
  const browser = new Browser(app, realm);
  await browser.request(await browser.throughIssuer());
  return browser;
}

async function realmWithRefresh(): Promise<Realm> {
  const realm = newRealm();
  await realm.set({ refresh: true });
  return realm;
}

const renew = (browser: Browser, origin = ORIGIN) =>
  browser.request("/api/me/renew", { method: "POST", headers: { Origin: origin } });

describe("a login", () => {
  test("is renewed as often as the page asks, past the end of its token, as the same person", async () => {
    const realm = await realmWithRefresh();
    const browser = await loggedIn(realm);
    expect([...browser.cookies.keys()]).toEqual([SESSION, RENEWAL]);
    const before = await browser.me();
    for (let time = 1; time <= 3; time += 1) {
      advanceClock(11 * 3_600_000);
      // The issuer's clock stands still.
      await realm.set({ claims: { exp: seconds(3600) } });
      // A browser drops the session's cookie, which has run out.
      browser.cookies.delete(SESSION);
      const response = await renew(browser);
      expect([response.status, await response.json()]).toEqual([200, await browser.me()]);
    }
    const after = await browser.me();
    expect(after).toMatchObject({ authenticated: true, subject: "alice", name: "Alice", email: "alice@example.test" });
    expect(after).not.toEqual(before);
  });

  test("is not renewed twelve hours after the last time, nor where the setting says never", async () => {
    const browser = await loggedIn(await realmWithRefresh());
    advanceClock(12 * 3_600_000 + 1000);
    expect([(await renew(browser)).status, await browser.me()]).toEqual([401, { authenticated: false }]);
    restoreClock();
    const realm = await realmWithRefresh();
    const never = await loggedIn({ ...realm, env: { ...realm.env, LOGIN_RENEW_HOURS: "0" } });
    expect([...never.cookies.keys()]).toEqual([SESSION]);
  });

  test("is not renewed from another page, without the cookie, or with another cookie in its place", async () => {
    const browser = await loggedIn(await realmWithRefresh());
    expect(await (await renew(browser, "https://evil.example")).json()).toMatchObject({ error: "bad_origin" });
    const session = browser.cookies.get(SESSION) ?? "";
    const renewal = browser.cookies.get(RENEWAL) ?? "";
    browser.cookies.set(RENEWAL, session);
    expect(await (await renew(browser)).json()).toMatchObject({ error: "bad_session" });
    browser.cookies.delete(RENEWAL);
    expect(await (await renew(browser)).json()).toMatchObject({ error: "bad_session" });
    browser.cookies.set(SESSION, renewal);
    expect(await browser.me()).toEqual({ authenticated: false });
  });

  test("goes on until its token ends when the issuer renews it no more, or for somebody else", async () => {
    const realm = await realmWithRefresh();
    const browser = await loggedIn(realm);
    const used = browser.cookies.get(RENEWAL) ?? "";
    expect((await renew(browser)).status).toBe(200);
    const fresh = browser.cookies.get(RENEWAL) ?? "";
    browser.cookies.set(RENEWAL, used);
    expect(await (await renew(browser)).json()).toMatchObject({ error: "login_failed" });
    // The cookie of another tab that was faster is left alone.
    expect(browser.cookies.get(RENEWAL)).toBe(used);
    browser.cookies.set(RENEWAL, fresh);
    await realm.set({ claims: { sub: "mallory" } });
    expect(await (await renew(browser)).json()).toMatchObject({ error: "login_failed" });
    expect(await browser.me()).toMatchObject({ subject: "alice" });
  });

  test("that has ended is not renewed by a copy of its cookies, and logging out takes both", async () => {
    const realm = await realmWithRefresh();
    const browser = await loggedIn(realm);
    const copy = new Browser(app, realm);
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    await browser.request("/logout", { method: "POST", headers: { Origin: ORIGIN } });
    expect([...browser.cookies.keys()]).toEqual([]);
    expect(await (await renew(copy)).json()).toMatchObject({ error: "revoked" });
    advanceClock(11 * 3_600_000);
    expect(await (await renew(copy)).json()).toMatchObject({ error: "login_failed" });
  });

  test("that can't be renewed leaves no cookie of an earlier one behind", async () => {
    const realm = await realmWithRefresh();
    const browser = await loggedIn(realm);
    await realm.set({ refresh: false });
    await browser.request(await browser.throughIssuer());
    expect([...browser.cookies.keys()]).toEqual([SESSION]);
  });
});
