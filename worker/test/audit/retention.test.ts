// Records that are old enough are deleted by an alarm that their object has set, with the clock in this file's hands.
import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { type AttachSpec, requestOf } from "../../src/attach/attach-spec.ts";
import { verifyChain } from "../../src/audit/chain.ts";
import type { AuditPage } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env.ts";
import { advanceClock, restoreClock, stopClock } from "../auth/clock.ts";

afterEach(restoreClock);

const { SESSION, TENANT } = env as unknown as Env;
const DAY_MS = 24 * 3_600_000;
const ACTOR = { tenant: "acme", user: "alice", address: "203.0.113.7" };

/** A ticket that the session does not know: it is refused, and that is on record. */
const REFUSED = {
  ...{ dialect: "plain", refusal: "status", sandboxKey: "sandbox", session: "s", isTransient: false },
  query: { sandbox: "default" },
  who: { share: { id: "unknown", expiresAtMs: 0 }, mayCreate: false },
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
  const refuse = async () => {
    const response = await stub.fetch(requestOf(REFUSED));
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({ error: "ticket_revoked" }),
    ]);
  };
  await expectDeletions(stub, refuse, async () => stub.audit(0, 10) as Promise<AuditPage | undefined>);
});

test("so are a tenant's", async () => {
  const stub = TENANT.getByName(crypto.randomUUID());
  const revoke = () => stub.revoke({ kind: "sub", value: "bob" }, ACTOR);
  await expectDeletions(stub, revoke, async () => stub.audit(0, 10) as Promise<AuditPage | undefined>);
});
