// A tenant's revocation on its way to the sessions: each is told, however many there are and whichever of them fails.
import { env, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { TenantObject } from "../../src/objects/tenant-object.ts";

const real = env as unknown as Env;
const BY = { tenant: "t", user: "admin", address: "" };
const HOUR_MS = 3_600_000;

afterEach(() => void vi.restoreAllMocks());

type Run = { readonly tenant: TenantObject; readonly told: readonly string[]; readonly most: () => number };

/** @param fails Whether the session can't be told, the nth time that it is. */
function withTenant(fails: (key: string, time: number) => boolean, run: (at: Run) => Promise<void>): Promise<void> {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  return runInDurableObject(real.TENANT.getByName(crypto.randomUUID()), (_made, state) => {
    const told: string[] = [];
    const tried = new Map<string, number>();
    let [open, most] = [0, 0];
    const revoked = async (key: string) => {
      open += 1;
      most = Math.max(most, open);
      await Promise.resolve();
      open -= 1;
      const time = (tried.get(key) ?? 0) + 1;
      tried.set(key, time);
      if (fails(key, time)) throw new Error("restarted");
      told.push(key);
    };
    const SESSION = { getByName: (key: string) => ({ revoked: () => revoked(key) }) };
    // Of the sessions nothing else is asked here.
    const tenant = new TenantObject(state, { ...real, SESSION } as unknown as Env);
    return run({ tenant, told, most: () => most });
  });
}

const admit = (tenant: TenantObject, sessionKey: string, connection = "c") =>
  tenant.admit({
    ...{
      connection,
      attempt: { user: sessionKey },
      grant: { persons: [], tokenIds: [] },
      sessionKey,
      sandboxKey: "k",
      sandbox: "s",
    },
    untilMs: Date.now() + 24 * HOUR_MS,
  });
const keys = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`);

test("T6a: of a thousand sessions each is told of a revocation, a hundred at a time, and one that restarts again", () =>
  withTenant(
    (key, time) => key === "s3" && time === 1,
    async ({ tenant, told, most }) => {
      for (const key of keys(1_000)) await admit(tenant, key);
      await tenant.revoke({ kind: "sub", value: "bob" }, BY);
      expect([...told].sort()).toEqual(keys(1_000).sort());
      expect(most()).toBe(100);
    },
  ));

test("T6a: a session that can't be told keeps no other from hearing, and who revokes hears of it", () =>
  withTenant(
    (key) => key === "s0",
    async ({ tenant, told }) => {
      for (const key of keys(250)) await admit(tenant, key);
      await expect(tenant.revoke({ kind: "sub", value: "bob" }, BY)).rejects.toThrow("1 sessions");
      expect(told.length).toBe(249);
      expect(tenant.renew({ persons: [{ subject: "bob" }], tokenIds: [] }, "s1", Date.now() + 1)).toBe(false);
    },
  ));

test("T6a: sessions that ended over an hour ago are not woken for a revocation", () =>
  withTenant(
    () => false,
    async ({ tenant, told }) => {
      for (const key of keys(3)) await admit(tenant, key);
      const nowMs = Date.now();
      const clock = vi.spyOn(Date, "now");
      // This end is of an earlier process of that name: somebody came just now.
      tenant.ended("s1");
      clock.mockReturnValue(nowMs + 20_000);
      tenant.ended("s0");
      await tenant.revoke({ kind: "jti", value: "a" }, BY);
      expect([...told].sort()).toEqual(["s0", "s1", "s2"]);
      clock.mockReturnValue(nowMs + HOUR_MS + 90_000);
      await admit(tenant, "s2");
      await tenant.revoke({ kind: "jti", value: "b" }, BY);
      expect(told.slice(3).sort()).toEqual(["s1", "s2"]);
    },
  ));

test("T6a: nor those that end at once after the only connection of theirs, however many", () =>
  withTenant(
    () => false,
    async ({ tenant, told }) => {
      const nowMs = Date.now();
      const clock = vi.spyOn(Date, "now").mockReturnValue(nowMs);
      for (const key of keys(100)) {
        await admit(tenant, key, `first ${key}`);
        if (key === "s1") await admit(tenant, key, "the next process's, which is on its way");
        tenant.ended(key, `first ${key}`);
      }
      clock.mockReturnValue(nowMs + HOUR_MS + 90_000);
      await admit(tenant, "s2");
      await tenant.revoke({ kind: "jti", value: "a" }, BY);
      expect([...told].sort()).toEqual(["s1", "s2"]);
    },
  ));
