// The issuer's memory, and how long it lasts: the clock is the test's.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type Grant, GrantStore } from "../src/issuer/grants.ts";

const VERIFIER = "v".repeat(43);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
const GRANT: Grant = { clientId: "web", person: { sub: "alice" }, scope: "openid" };

function store(deviceInterval = 1) {
  const clock = { seconds: 1000 };
  return { clock, grants: new GrantStore({ now: () => clock.seconds, deviceInterval }) };
}

test("a code is good for 60 s and not a moment longer", () => {
  const { clock, grants } = store();
  const early = grants.addCode(GRANT, "http://page/callback", CHALLENGE);
  const late = grants.addCode(GRANT, "http://page/callback", CHALLENGE);
  clock.seconds += 59.9;
  expect(grants.redeemCode(early, "web", "http://page/callback", VERIFIER)).toEqual(GRANT);
  clock.seconds += 0.1;
  expect(grants.redeemCode(late, "web", "http://page/callback", VERIFIER)).toBeUndefined();
});

test("a code of another client is refused", () => {
  const { grants } = store();
  const code = grants.addCode(GRANT, "http://page/callback", CHALLENGE);
  expect(grants.redeemCode(code, "cli", "http://page/callback", VERIFIER)).toBeUndefined();
});

test("a device that polls sooner than the interval allows is told to slow down, with a fifth of leeway", () => {
  const { clock, grants } = store(5);
  const { deviceCode } = grants.addDevice("cli", "openid");
  expect(grants.pollDevice(deviceCode, "cli")).toEqual({ state: "pending" });
  clock.seconds += 4;
  expect(grants.pollDevice(deviceCode, "cli")).toEqual({ state: "pending" });
  clock.seconds += 3.9;
  expect(grants.pollDevice(deviceCode, "cli")).toEqual({ state: "too-fast" });
});

test("a device code expires after 10 minutes, for the device and for the person", () => {
  const { clock, grants } = store();
  const { deviceCode, userCode } = grants.addDevice("cli", "openid");
  clock.seconds += 600;
  expect(grants.findDevice(userCode)).toBeUndefined();
  expect(grants.decideDevice(userCode, { state: "approved", person: { sub: "alice" } })).toBe(false);
  expect(grants.pollDevice(deviceCode, "cli")).toEqual({ state: "expired" });
});

test("a decision about a device stands: nobody can change it", () => {
  const { grants } = store();
  const { deviceCode, userCode } = grants.addDevice("cli", "openid");
  expect(grants.decideDevice(userCode, { state: "denied" })).toBe(true);
  expect(grants.decideDevice(userCode, { state: "approved", person: { sub: "mallory" } })).toBe(false);
  expect(grants.pollDevice(deviceCode, "cli")).toEqual({ state: "denied" });
});

test("a device code means nothing to another client", () => {
  const { grants } = store();
  const { deviceCode } = grants.addDevice("cli", "openid");
  expect(grants.pollDevice(deviceCode, "web")).toEqual({ state: "unknown" });
});

test("a user code has 8 letters without vowels and is found however it is typed", () => {
  const { grants } = store();
  const { userCode } = grants.addDevice("cli", "openid");
  expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  expect(grants.findDevice(` ${userCode.toLowerCase().replace("-", "")} `)?.userCode).toBe(userCode);
});

test("a refresh token is good once, for 30 days, for its own client", () => {
  const { clock, grants } = store();
  const token = grants.addRefreshToken(GRANT);
  expect(grants.redeemRefreshToken(token, "cli")).toBeUndefined();
  expect(grants.redeemRefreshToken(token, "web")).toEqual(GRANT);
  expect(grants.redeemRefreshToken(token, "web")).toBeUndefined();
  const late = grants.addRefreshToken(GRANT);
  clock.seconds += 30 * 24 * 3600;
  expect(grants.redeemRefreshToken(late, "web")).toBeUndefined();
});

test("beyond 10 000 entries the oldest are forgotten", () => {
  const { grants } = store();
  const first = grants.addAccessToken(GRANT, 60);
  const second = grants.addAccessToken(GRANT, 60);
  for (let i = 2; i < 10_001; i++) grants.addAccessToken(GRANT, 60);
  expect(grants.findAccessToken(first)).toBeUndefined();
  expect(grants.findAccessToken(second)?.grant).toEqual(GRANT);
});
