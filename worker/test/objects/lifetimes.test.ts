// How long connections live, with a clock in this file's hands: the issuer asked again, idleness, and what came too early.
import { CLOSE, type ServerConnection } from "sandbox-stdio/core";
import { afterEach, expect, test } from "vitest";
import { type Grant, grantOfToken } from "../../src/attach/grant.ts";
import { verifyToken } from "../../src/auth/verify-token.ts";
import type { Env } from "../../src/env.ts";
import { Renewals } from "../../src/session/renewals.ts";
import { IdleWatch } from "../../src/sockets/idle.ts";
import { Lifetimes } from "../../src/sockets/lifetimes.ts";
import type { SessionTickets } from "../../src/tickets/session-tickets.ts";
import { advanceClock, restoreClock, stopClock } from "../auth/clock.ts";
import { CLIENT, newRealm, seconds } from "../auth/realm.ts";

afterEach(restoreClock);

const PASS = { connection: "c1", address: "203.0.113.7", homeKey: "home" };

/** A connection that only notes how it is ended. */
function connection() {
  const said: unknown[] = [];
  const ended: unknown[] = [];
  const made = {
    activity: 0,
    get isEnded() {
      return ended.length > 0;
    },
    client: {},
    send: (message: unknown) => void said.push(message),
    dismiss: (...why: unknown[]) => void ended.push(why),
  };
  return { said, ended, made, connection: made as unknown as ServerConnection };
}

function grant(over: Partial<Grant> = {}): Grant {
  const own = { persons: [{ subject: "alice" }], tokenIds: ["t1"] };
  const may = { mayExec: true, isAdmin: false, mayCreate: true };
  const who = { subject: "alice", name: "Alice", isGuest: false };
  return { ...who, ...may, ...own, own, expiresAtMs: Date.now() + 3_600_000, origin: "", ...over };
}

test("an opaque token's issuer is asked again every 60 s, and its no ends the connection", async () => {
  stopClock();
  const realm = newRealm();
  const token = `at_${crypto.randomUUID().replaceAll("-", "")}`;
  const answer = { active: true, client_id: CLIENT, sub: "alice", exp: seconds(3600) };
  await realm.set({ opaque: { [token]: answer } });
  const one = connection();
  const lifetimes = new Lifetimes();
  const renewals = new Renewals({
    env: realm.env as Env,
    lifetimes,
    tickets: {} as SessionTickets,
    sessionKey: "s",
    sandbox: () => "default",
    changed: () => undefined,
  });
  lifetimes.add(one.connection, grantOfToken(await verifyToken(token, realm), ""), PASS);
  const start = Date.now();
  expect(lifetimes.nextTickMs).toBe(start + 60_000);
  advanceClock(59_999);
  await renewals.askIssuers(Date.now());
  expect((await realm.counts()).introspect).toBe(1);
  advanceClock(1);
  await renewals.askIssuers(Date.now());
  expect((await realm.counts()).introspect).toBe(2);
  expect([one.ended, lifetimes.nextTickMs]).toEqual([[], start + 120_000]);

  await realm.set({ opaque: {} });
  advanceClock(60_000);
  await renewals.askIssuers(Date.now());
  expect(one.ended).toEqual([[CLOSE.unauthenticated, "the token is not valid any more", "never", "left"]]);
  expect(lifetimes.nextTickMs).toBe(Number.POSITIVE_INFINITY);
});

test("a connection is warned once, 60 s before its end, and its place is kept", () => {
  stopClock();
  const one = connection();
  const lifetimes = new Lifetimes();
  const expiresAtMs = Date.now() + 100_000;
  lifetimes.add(one.connection, grant({ expiresAtMs }), PASS);
  expect(lifetimes.nextTickMs).toBe(expiresAtMs - 60_000);
  lifetimes.tick(expiresAtMs - 60_001);
  expect(one.said).toEqual([]);
  lifetimes.tick(expiresAtMs - 60_000);
  lifetimes.tick(expiresAtMs - 30_000);
  expect(one.said).toEqual([{ type: "expiring", seconds: 60 }]);
  expect([one.ended, lifetimes.nextTickMs]).toEqual([[], expiresAtMs]);
  lifetimes.tick(expiresAtMs);
  expect(one.ended).toEqual([[CLOSE.unauthenticated, "token expired", "never", "vanished"]]);
});

test("T5: behind a fresh token that lives no longer than the warning, half of its time passes before the next", () => {
  stopClock();
  const one = connection();
  const lifetimes = new Lifetimes();
  const startMs = Date.now();
  lifetimes.add(one.connection, grant({ expiresAtMs: startMs + 60_000 }), PASS);
  lifetimes.tick(startMs);
  expect(one.said).toEqual([{ type: "expiring", seconds: 60 }]);
  advanceClock(10_000);
  lifetimes.renew(one.connection, grant({ expiresAtMs: startMs + 70_000 }));
  lifetimes.tick(startMs + 10_000);
  expect([one.said.length, lifetimes.nextTickMs]).toEqual([1, startMs + 40_000]);
  lifetimes.tick(startMs + 40_000);
  expect(one.said).toEqual([
    { type: "expiring", seconds: 60 },
    { type: "expiring", seconds: 30 },
  ]);
  lifetimes.renew(one.connection, grant({ expiresAtMs: startMs + 1_000_000 }));
  expect(lifetimes.nextTickMs).toBe(startMs + 940_000);
});

test("a connection that gets here just after a revocation is ended too, by those who have a say", () => {
  const lifetimes = new Lifetimes();
  lifetimes.revoke({ kind: "sub", value: "alice", atMs: Date.now() }, "home");
  lifetimes.revoke({ kind: "sub", value: "bob", atMs: Date.now() }, "elsewhere");
  const bobs = { persons: [{ subject: "bob" }], tokenIds: [] };
  const alice = connection();
  const bob = connection();
  const visitor = connection();
  lifetimes.add(alice.connection, grant(), PASS);
  lifetimes.add(bob.connection, grant({ ...bobs, own: bobs }), PASS);
  lifetimes.add(visitor.connection, grant({ ...bobs, own: bobs }), { ...PASS, ownKey: "elsewhere" });
  const revoked = [[CLOSE.unauthenticated, "access was revoked", "never", "left"]];
  expect([alice.ended, bob.ended, visitor.ended]).toEqual([revoked, [], revoked]);
});

test("a connection is idle from its last activity on, is never closed early, and at most a thirtieth late", () => {
  const one = connection();
  const watch = new IdleWatch();
  watch.add(one.connection, 30_000, 0);
  let now = 0;
  const run = (untilMs: number) => {
    for (let next = watch.nextTickMs(now); next <= untilMs; next = watch.nextTickMs(now)) {
      now = next;
      watch.tick(now);
    }
  };
  run(20_000);
  one.made.activity += 1;
  run(50_000);
  expect(one.ended).toEqual([]);
  run(51_000);
  expect(one.ended).toEqual([[CLOSE.idle, "idle for 30 s", "never", "vanished"]]);
  expect(watch.nextTickMs(now)).toBe(Number.POSITIVE_INFINITY);
});
