// The session cookie: oauth.do's helpers in workerd, and what they leave to us.
import { decodeSession, encodeSession } from "oauth.do/session";
import { afterEach, beforeEach, expect, test } from "vitest";
import { beginSession, endSession, openSession, sessionCookieName } from "../../src/auth/session.ts";
import { advanceClock, restoreClock, stopClock } from "./clock.ts";
import { faultOf, ORIGIN } from "./realm.ts";

beforeEach(stopClock);
afterEach(restoreClock);

const SETTINGS = { publicOrigin: ORIGIN, sessionSecret: "a secret of these tests, longer than 32 characters" };
const LOCAL = { ...SETTINGS, publicOrigin: "http://localhost:8787" };
const SESSION = { userId: "alice", accessToken: "a.b.c", scope: "openid", name: "Alice", email: "a@example.test" };

function sealedValue(setCookie: string): string {
  return setCookie.slice(setCookie.indexOf("=") + 1, setCookie.indexOf(";"));
}

test("what was sealed comes back, and can't be read in the cookie", async () => {
  const session = { ...SESSION, expiresAt: Date.now() + 60_000 };
  const value = sealedValue(await beginSession(session, SETTINGS));
  expect(await openSession(value, SETTINGS)).toEqual({ ...session, id: expect.stringMatching(/^[\da-f-]{36}$/) });
  expect(atob(value)).not.toContain("alice");
});

test("the cookie is out of reach of scripts and other sites, and ends with its token", async () => {
  const session = { ...SESSION, expiresAt: Date.now() + 60_999 };
  const attributes = (cookie: string) => cookie.slice(cookie.indexOf(";"));
  expect(attributes(await beginSession(session, SETTINGS))).toBe(
    "; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure",
  );
  expect(attributes(await beginSession(session, LOCAL))).toBe("; Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
  expect(endSession(SETTINGS)).toBe("__Host-sbx_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure");
});

test("its name is this server's own: no sibling domain can plant one, no other port overwrites it", () => {
  expect(sessionCookieName(SETTINGS)).toBe("__Host-sbx_session");
  expect(sessionCookieName(LOCAL)).toBe("sbx_session_8787");
});

test("a session is refused once it has run out, though oauth.do still opens it", async () => {
  const value = sealedValue(await beginSession({ ...SESSION, expiresAt: Date.now() + 60_000 }, SETTINGS));
  advanceClock(59_999);
  expect((await openSession(value, SETTINGS)).userId).toBe("alice");
  advanceClock(1);
  expect(await faultOf(() => openSession(value, SETTINGS))).toBe("bad_session");
  expect(await decodeSession(value, SETTINGS.sessionSecret)).toMatchObject({ userId: "alice" });
});

test("a session without an end is refused", async () => {
  const value = await encodeSession(SESSION, SETTINGS.sessionSecret);
  expect(await faultOf(() => openSession(value, SETTINGS))).toBe("bad_session");
});

test("a session under oauth.do's older key form is refused, though oauth.do opens it", async () => {
  const { sessionSecret } = SETTINGS;
  const raw = new TextEncoder().encode(sessionSecret.padEnd(32, "0").slice(0, 32));
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"]);
  const iv = new Uint8Array(12);
  const plain = new TextEncoder().encode(JSON.stringify({ ...SESSION, expiresAt: Date.now() + 60_000 }));
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, plain));
  const value = btoa(String.fromCharCode(...iv, ...sealed));
  expect(await decodeSession(value, sessionSecret)).toMatchObject({ userId: "alice" });
  expect(await faultOf(() => openSession(value, SETTINGS))).toBe("bad_session");
});

test("a token too long for a cookie is a failed login, not a cookie that silently vanishes", async () => {
  const session = { ...SESSION, accessToken: "a".repeat(3000), expiresAt: Date.now() + 60_000 };
  expect(await faultOf(() => beginSession(session, SETTINGS))).toBe("login_failed");
});
