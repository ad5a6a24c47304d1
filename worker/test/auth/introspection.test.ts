// Opaque tokens: what the issuer answers decides, is checked anew on each use, and is not believed for long.
import { afterEach, expect, test, vi } from "vitest";
import { CACHE_CAPACITY, CACHE_TTL_MS, verifyToken } from "../../src/auth/verify-token.ts";
import { advanceClock, restoreClock, stopClock } from "./clock.ts";
import { CLIENT, faultOf, newRealm, type Realm, seconds } from "./realm.ts";

afterEach(restoreClock);

const TOKEN = `at_${"a".repeat(48)}`;

/** A realm that knows TOKEN by an answer as id.org.ai gives it, with some claims replaced; undefined removes. */
async function realmWith(claims: Record<string, unknown> = {}): Promise<Realm> {
  const realm = newRealm();
  const answer = { active: true, client_id: CLIENT, sub: "alice", scope: "openid", exp: seconds(3600), ...claims };
  await realm.set({ opaque: { [TOKEN]: answer } });
  return realm;
}

test("an active token of one of our clients is its subject's identity", async () => {
  const exp = seconds(3600);
  const realm = await realmWith({ exp, scope: "openid sandbox:admin" });
  stopClock();
  expect(await verifyToken(TOKEN, realm)).toEqual({
    issuer: realm.issuer,
    subject: "alice",
    tenantClaim: "sub",
    tenantValue: "alice",
    clientId: CLIENT,
    scopes: new Set(["openid", "sandbox:admin", "sandbox:exec", "sandbox:connect"]),
    expiresAt: exp,
    opaque: { token: TOKEN, believedUntilMs: Date.now() + CACHE_TTL_MS },
  });
});

const cases: [string, Record<string, unknown>, string][] = [
  ["inactive", { active: false }, "inactive"],
  ["active only as a text", { active: "true" }, "inactive"],
  ["another client's", { client_id: "stranger" }, "wrong_audience"],
  ["nobody's in particular", { client_id: undefined }, "wrong_audience"],
  ["made for another audience", { aud: "elsewhere" }, "wrong_audience"],
  ["another issuer's", { iss: "https://elsewhere.example" }, "wrong_issuer"],
  ["expired", { exp: seconds(-1) }, "expired"],
  ["without an expiry", { exp: undefined }, "missing_claim"],
  ["not valid yet", { nbf: seconds(60) }, "not_yet_valid"],
  ["without a subject, as a program's own token is", { sub: undefined }, "missing_claim"],
  ["a refresh token", { token_type: "refresh_token" }, "malformed"],
];
test.each(cases)("a token that is %s is refused", async (_, claims, code) => {
  const realm = await realmWith(claims);
  expect(await faultOf(() => verifyToken(TOKEN, realm))).toBe(code);
});

test("an answer that names this issuer and our audience is accepted", async () => {
  const realm = await realmWith({ aud: ["elsewhere", CLIENT] });
  await realm.set({
    opaque: {
      [TOKEN]: { active: true, client_id: CLIENT, sub: "bob", exp: seconds(60), iss: realm.issuer, aud: [CLIENT] },
    },
  });
  expect((await verifyToken(TOKEN, realm)).subject).toBe("bob");
});

test("a token that the issuer does not know is inactive", async () => {
  expect(await faultOf(() => verifyToken(TOKEN, newRealm()))).toBe("inactive");
});

test("an answer is believed for 60 s: then a revoked token is refused", async () => {
  const realm = await realmWith();
  stopClock();
  await verifyToken(TOKEN, realm);
  await realm.set({ opaque: {} });
  advanceClock(59_999);
  expect((await verifyToken(TOKEN, realm)).subject).toBe("alice");
  expect(await realm.counts()).toMatchObject({ introspect: 1 });
  advanceClock(1);
  expect(await faultOf(() => verifyToken(TOKEN, realm))).toBe("inactive");
  expect(await realm.counts()).toMatchObject({ introspect: 2 });
});

test("an answer is never believed past the token's expiry", async () => {
  const realm = await realmWith({ exp: seconds(30) });
  await verifyToken(TOKEN, realm);
  advanceClock(31_000);
  expect(await faultOf(() => verifyToken(TOKEN, realm))).toBe("expired");
});

test("a remembered answer does not get a token past another list of clients", async () => {
  const realm = await realmWith();
  await verifyToken(TOKEN, realm);
  expect(await faultOf(() => verifyToken(TOKEN, { ...realm, audience: ["another"] }))).toBe("wrong_audience");
});

test("one issuer's answer says nothing about the same token at another", async () => {
  await verifyToken(TOKEN, await realmWith());
  expect(await faultOf(() => verifyToken(TOKEN, newRealm()))).toBe("inactive");
});

test("that a token is not active is not remembered: it may be new", async () => {
  const realm = newRealm();
  expect(await faultOf(() => verifyToken(TOKEN, realm))).toBe("inactive");
  await realm.set({ opaque: { [TOKEN]: { active: true, client_id: CLIENT, sub: "alice", exp: seconds(60) } } });
  expect((await verifyToken(TOKEN, realm)).subject).toBe("alice");
});

test("an issuer that fails is not a verdict on the token", async () => {
  const realm = await realmWith();
  await realm.set({ down: true });
  expect(await faultOf(() => verifyToken(TOKEN, realm))).toBe("issuer_unreachable");
});

test("an issuer that sends elsewhere does not get the token carried there", async () => {
  const realm = await realmWith();
  const introspectionUri = `${realm.issuer}/moved`;
  expect(await faultOf(() => verifyToken(TOKEN, { ...realm, introspectionUri }))).toBe("issuer_unreachable");
  expect(await realm.counts()).toMatchObject({ introspect: 0 });
});

test("remembered answers are bounded: the oldest is asked about again", async () => {
  const realm = newRealm();
  const token = (i: number) => `at_${String(i).padStart(48, "0")}`;
  const asked = vi.spyOn(globalThis, "fetch").mockImplementation(async () =>
    // A thousand questions to the test's issuer take seconds.
    Response.json({ active: true, client_id: CLIENT, sub: "alice", exp: seconds(3600) }),
  );
  for (let i = 0; i <= CACHE_CAPACITY; i += 1) await verifyToken(token(i), realm);
  await verifyToken(token(CACHE_CAPACITY), realm);
  expect(asked).toHaveBeenCalledTimes(CACHE_CAPACITY + 1);
  await verifyToken(token(0), realm);
  expect(asked).toHaveBeenCalledTimes(CACHE_CAPACITY + 2);
});
