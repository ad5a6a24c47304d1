// Records that are old enough are deleted by an alarm that their object has set, with the clock in this file's hands.
import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { type AttachSpec, requestOf } from "../../src/attach/attach-spec.ts";
import { verifyChain } from "../../src/audit/chain.ts";
import type { AuditPage } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";
import { SessionObject } from "../../src/objects/session-object.ts";
import { advanceClock, restoreClock, stopClock } from "../auth/clock.ts";
import { GREETED_SETTINGS, standInForBridge } from "../support/stand-in-bridge.ts";

afterEach(() => {
  restoreClock();
  vi.restoreAllMocks();
});

const real = env as unknown as Env;
const { SESSION, TENANT } = real;
const DAY_MS = 24 * 3_600_000;
const ACTOR = { tenant: "acme", user: "alice", address: "203.0.113.7" };

/** Wants a command that is refused. That is on record also where there was never a session. */
const FORBIDDEN = {
  ...{ dialect: "plain", refusal: "status", sandboxKey: "sandbox", session: "s", isTransient: false },
  query: { sandbox: "default", process: { cmd: "forbidden", args: [] } },
  who: { mayExec: true, isAdmin: false, mayCreate: true, persons: [], tokenIds: [], expiresAtMs: 0 },
  actor: ACTOR,
  pass: { connection: "c", address: ACTOR.address, homeKey: "home" },
} as unknown as AttachSpec;

const alarmOf = (stub: DurableObjectStub) => runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());

/**
 * One record now, one 89 days later, and then both in turn are too old.
 * @param record Has something put on record.
 */
async function expectDeletions(
  stub: DurableObjectStub,
  record: () => Promise<unknown>,
  read: () => Promise<AuditPage | undefined>,
): Promise<void> {
  stopClock();
  const first = Date.now();
  await record();
  // It is set after the answer.
  await expect.poll(() => alarmOf(stub)).toBe(first + 90 * DAY_MS);
  advanceClock(89 * DAY_MS);
  const second = Date.now();
  await record();
  expect((await read())?.records.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(await alarmOf(stub)).toBe(first + 90 * DAY_MS);

  advanceClock(DAY_MS + 1);
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  const page = await read();
  expect([page?.anchor.seq, page?.records.map(({ seq }) => seq)]).toEqual([1, [2]]);
  expect(verifyChain(page?.records ?? [], page?.anchor)).toEqual({ ok: true, head: page?.head });
  expect(await alarmOf(stub)).toBe(second + 90 * DAY_MS);

  // By a new life of the object too; and then there is nothing to wake for.
  await evictDurableObject(stub);
  advanceClock(89 * DAY_MS);
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect(await read()).toEqual({ records: [], head: page?.head, anchor: page?.head });
  expect(await alarmOf(stub)).toBeNull();

  // What is recorded after that is deleted some day as well.
  const third = Date.now();
  await record();
  await expect.poll(() => alarmOf(stub)).toBe(third + 90 * DAY_MS);
}

test("a session's records are deleted after AUDIT_RETENTION, by its alarm, and the chain goes on from the anchor", async () => {
  const stub = SESSION.getByName(crypto.randomUUID());
  standInForBridge();
  const refuse = () =>
    runInDurableObject(stub, async (_made, state) => {
      const object = new SessionObject(state, { ...real, ...GREETED_SETTINGS, COMMAND_BLOCK: "forbidden" });
      const response = await object.fetch(requestOf(FORBIDDEN));
      expect([response.status, await response.json()]).toEqual([
        403,
        expect.objectContaining({ error: "cmd_forbidden" }),
      ]);
      // Gathered for a moment, then stored.
      await expect.poll(() => object.audit(0, 10)).toBeDefined();
    });
  await expectDeletions(stub, refuse, async () => stub.audit(0, 10) as Promise<AuditPage | undefined>);
});

test("so are a tenant's", async () => {
  const stub = TENANT.getByName(crypto.randomUUID());
  const revoke = () => stub.revoke({ kind: "sub", value: "bob" }, ACTOR);
  await expectDeletions(stub, revoke, async () => stub.audit(0, 10) as Promise<AuditPage | undefined>);
});
