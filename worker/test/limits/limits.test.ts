// The rules behind limits and revocations, without objects or sockets: what is counted, and what is concerned.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Identity, MAX_TOKEN_SECONDS } from "../../src/auth/identity.ts";
import { addressKey } from "../../src/limits/address-key.ts";
import { countAttempt } from "../../src/limits/attempts.ts";
import { CallCounter } from "../../src/limits/call-counter.ts";
import { idleMsOf, readLimits } from "../../src/limits/limits.ts";
import { concerns, REVOCATION_KEEP_MS, type Revocation, revocableOf } from "../../src/limits/revocation.ts";
import { RevocationWaits } from "../../src/limits/revocation-waits.ts";
import { AuthFault } from "../../src/refusal/fault.ts";
import { SHARE_SECONDS } from "../../src/routes/tickets.ts";

test("attempts: never more than the burst and what the rate adds, and whoever waits as long as told gets in", () => {
  const limits = fc.record({ perMinute: fc.integer({ min: 1, max: 60 }), burst: fc.integer({ min: 1, max: 60 }) });
  fc.assert(
    fc.property(fc.array(fc.nat(30_000), { maxLength: 200 }), limits, (waits, limit) => {
      const start = 1_000_000;
      let now = start;
      let fullAtMs = 0;
      const admitted: number[] = [];
      for (const wait of waits) {
        now += wait;
        const counted = countAttempt(fullAtMs, now, limit);
        if (counted.ok) {
          fullAtMs = counted.fullAtMs;
          admitted.push(now);
        } else {
          expect(counted.retryAfterSeconds).toBeGreaterThanOrEqual(1);
          expect(counted.retryAfterSeconds).toBeLessThanOrEqual(Math.ceil(60 / limit.perMinute));
          expect(countAttempt(fullAtMs, now + counted.retryAfterSeconds * 1000, limit).ok).toBe(true);
        }
        for (const since of admitted) {
          const inBetween = admitted.filter((time) => time >= since).length;
          expect(inBetween).toBeLessThanOrEqual(limit.burst + ((now - since) / 60_000) * limit.perMinute + 1e-4);
        }
      }
    }),
    // The sum of its fractions was once more than it should be, and a client that waited as told was refused.
    { examples: [[[26_286, 740, 12_979], { perMinute: 7, burst: 1 }]] },
  );
});

test("attempts: a burst of 180 at once is let in, and then one each second; after three minutes all again", () => {
  const limit = readLimits({}).attaches;
  const burst = (fullAtMs: number, nowMs: number): number => {
    let last = fullAtMs;
    for (let i = 0; i < 180; i += 1) {
      const counted = countAttempt(last, nowMs, limit);
      if (!counted.ok) throw new Error(`refused number ${i}`);
      last = counted.fullAtMs;
    }
    return last;
  };
  const empty = burst(0, 5_000);
  expect(countAttempt(empty, 5_000, limit)).toEqual({ ok: false, fullAtMs: empty, retryAfterSeconds: 1 });
  expect(countAttempt(empty, 5_999, limit)).toEqual({ ok: false, fullAtMs: empty, retryAfterSeconds: 1 });
  expect(countAttempt(empty, 6_000, limit).ok).toBe(true);
  burst(empty, 185_000);
});

test("attempts: after a clock was set back by an hour, one is let in each second, as from an empty bucket, and then all again", () => {
  const limit = { perMinute: 60, burst: 180 };
  const counted = countAttempt(3_600_000 + 180_000, 1_000, limit);
  expect(counted).toEqual({ ok: false, fullAtMs: 181_000, retryAfterSeconds: 1 });
  expect(countAttempt(counted.fullAtMs, 2_000, limit)).toEqual({ ok: true, fullAtMs: 182_000 });
  expect(countAttempt(182_000, 2_000, limit).ok).toBe(false);
  expect(countAttempt(182_000, 182_000, limit)).toEqual({ ok: true, fullAtMs: 183_000 });
});

test("attempts: a fraction or a millisecond that was rounded is no clock that was set back", () => {
  const limit = { perMinute: 60, burst: 2 };
  expect(countAttempt(2_999.5, 1_000, limit)).toEqual({ ok: false, fullAtMs: 2_999.5, retryAfterSeconds: 1 });
  expect(countAttempt(3_001, 1_000, limit)).toEqual({ ok: false, fullAtMs: 3_001, retryAfterSeconds: 2 });
  expect(countAttempt(3_001.5, 1_000, limit)).toEqual({ ok: false, fullAtMs: 3_000, retryAfterSeconds: 1 });
});

test("attempts: who sets the rate alone allows no more than that at once", () => {
  expect(readLimits({ LIMIT_ATTACHES_PER_MINUTE: "5" }).attaches).toEqual({ perMinute: 5, burst: 5 });
  const both = { LIMIT_ATTACHES_PER_MINUTE: "5", LIMIT_ATTACHES_BURST: "50" };
  expect(readLimits(both).attaches).toEqual({ perMinute: 5, burst: 50 });
});

test("calls: never more than the limit within any 60 s, and whoever waits as long as told may", () => {
  const calls = fc.array(fc.tuple(fc.nat(30_000), fc.constantFrom("a", "b")), { maxLength: 200 });
  fc.assert(
    fc.property(calls, fc.integer({ min: 1, max: 20 }), (made, perMinute) => {
      const counter = new CallCounter();
      let now = 1_000_000;
      const counted: [string, number][] = [];
      for (const [wait, caller] of made) {
        now += wait;
        const waitSeconds = counter.count(caller, now, perMinute);
        const recent = counted.filter(([who, time]) => who === caller && time > now - 60_000).length;
        expect(waitSeconds === undefined).toBe(recent < perMinute);
        if (waitSeconds === undefined) counted.push([caller, now]);
        else expect([waitSeconds >= 1, waitSeconds <= 60]).toEqual([true, true]);
      }
      counter.count("c", now + 120_000, perMinute);
      expect(counter.size).toBe(1);
    }),
  );
  const counter = new CallCounter();
  for (let i = 0; i < 600; i += 1) expect(counter.count("a", 5_000 + i, 600)).toBeUndefined();
  expect([counter.count("a", 6_000, 600), counter.count("b", 6_000, 600)]).toEqual([59, undefined]);
  expect([counter.count("a", 65_000, 600), counter.count("a", 65_000, 600)]).toEqual([undefined, 1]);
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:0db8:0001:0002:ffff::", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8::4:5:6:7:8", "2001:db8:0:4::/64"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["unknown", "unknown"],
])("addresses: %s is counted as %s", (address, key) => {
  expect(addressKey(address)).toBe(key);
});

test("limits: what is not set has the documented default; what is no count is refused with its name", () => {
  const limits = readLimits({});
  expect(limits).toEqual({
    connectionsPerAddress: 200,
    jsonConnectionsPerAddress: 20,
    attaches: { perMinute: 60, burst: 180 },
    unnamedSeconds: 300,
    callsPerMinute: 600,
    sandboxes: 10,
    sessions: 256,
    clients: 64,
    waits: 256,
    budget: {
      messagesPerSecond: 200,
      messageBurst: 2000,
      refusedBytesPerSecond: 64 * 1024,
      refusedBurstBytes: 256 * 1024,
    },
    plainBytesPerSecond: 8 * 1024 * 1024,
    unacknowledgedBytes: 128 * 1024 * 1024,
    idleSeconds: 1800,
    ptyIdleSeconds: 600,
    parkedIdleSeconds: Number.POSITIVE_INFINITY,
    parkSeconds: 60,
    parksPlain: false,
    parkHours: 8,
  });
  const idle = (canPark: boolean) =>
    (["json", "pty", undefined] as const).map((kind) => idleMsOf(limits, kind, canPark));
  expect([idle(false), idleMsOf(limits, undefined, true)]).toEqual([[1_800_000, 600_000, 1_800_000], Infinity]);
  expect(idleMsOf(readLimits({ IDLE_SECONDS: "4" }), undefined, true)).toBe(4_000);
  const never = { ...limits, parkSeconds: Infinity };
  expect(readLimits({ PARK_SECONDS: "0", PARK_PLAIN: "1" })).toEqual(never);
  expect(readLimits({ PARK_PLAIN: "1" }).parksPlain).toBe(true);
  expect(readLimits({ LIMIT_CLIENTS: "1000", LIMIT_SESSIONS: "7" })).toEqual({ ...limits, sessions: 7 });
  for (const value of ["0", "-1", "1.5", "many", "1e3", " 5"]) {
    expect(() => readLimits({ LIMIT_SANDBOXES: value })).toThrow(AuthFault);
    expect(() => readLimits({ LIMIT_SANDBOXES: value })).toThrow(/LIMIT_SANDBOXES/);
  }
});

test("no token, and no link made at a token's end, is good for longer than a revocation is remembered", () => {
  const shareSeconds = SHARE_SECONDS.max;
  expect((MAX_TOKEN_SECONDS + shareSeconds) * 1000).toBeLessThanOrEqual(REVOCATION_KEEP_MS);
});

test("an identity can be revoked by its person, the id of its token and its login, as far as it has them", () => {
  const tenant = { tenantClaim: "sub", tenantValue: "alice" } as const;
  const alice: Identity = { ...tenant, issuer: "i", subject: "alice", scopes: new Set(), expiresAt: 9 };
  expect(revocableOf(alice)).toEqual({ persons: [{ subject: "alice" }], tokenIds: [] });
  expect(revocableOf({ ...alice, issuedAt: 5, tokenId: "one", loginId: "two" })).toEqual({
    ...{ persons: [{ subject: "alice", issuedAt: 5 }], tokenIds: ["one"], login: "two" },
  });
});

test("a long connection hears of a revocation that concerns it, and otherwise waits until its time is over", async () => {
  const waits = new RevocationWaits();
  const grant = (subject: string) => ({ persons: [{ subject }], tokenIds: [] });
  const [alice, bob] = [waits.wait(grant("alice"), 3_600_000), waits.wait(grant("bob"), 1)];
  waits.tell({ kind: "sub", value: "alice", atMs: 0 });
  expect(await Promise.all([alice, bob])).toEqual([true, false]);
});

test("a login that was ended concerns what rests on it, and nothing else of its person", () => {
  const ended: Revocation = { kind: "login", value: "one", atMs: 0 };
  const alice = { persons: [{ subject: "alice" }], tokenIds: ["one"] };
  expect([{ ...alice, login: "one" }, { ...alice, login: "two" }, alice].map((one) => concerns(ended, one, 1))).toEqual(
    [true, false, false],
  );
});

test("a revoked user is kept out for a day unless they may return, and with tokens from before for good", () => {
  const atMs = 1_700_000_000_000;
  const revocation: Revocation = { kind: "sub", value: "bob", atMs };
  const bob = (issuedAt?: number) => ({
    persons: [{ subject: "bob", ...(issuedAt === undefined ? {} : { issuedAt }) }],
    tokenIds: ["t"],
  });
  const [before, after] = [atMs / 1000, atMs / 1000 + 1];
  const [soon, later] = [atMs + 24 * 3_600_000 - 1, atMs + 24 * 3_600_000];
  expect([before, after, undefined].map((issuedAt) => concerns(revocation, bob(issuedAt), soon))).toEqual(
    Array(3).fill(true),
  );
  const carolFor = (subject: string) => ({ persons: [{ subject: "carol" }, { subject }], tokenIds: [] });
  expect(["bob", "dora"].map((subject) => concerns(revocation, carolFor(subject), soon))).toEqual([true, false]);
  expect([before, after, undefined].map((issuedAt) => concerns(revocation, bob(issuedAt), later))).toEqual([
    true,
    false,
    true,
  ]);
  const returning = [before, after, undefined].map((at) => concerns({ ...revocation, mayReturn: true }, bob(at), soon));
  expect(returning).toEqual([true, false, true]);
  expect(concerns(revocation, { persons: [{ subject: "carol" }], tokenIds: ["bob"] }, soon)).toBe(false);
  expect(concerns({ kind: "jti", value: "t", atMs }, bob(after), later)).toBe(true);
  expect(concerns({ kind: "jti", value: "bob", atMs }, bob(), soon)).toBe(false);
});
