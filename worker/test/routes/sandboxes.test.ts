// The list of a tenant's sandboxes: those with sessions that have not ended, and of these the asker's own.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { tenantKey } from "../../src/auth/names.ts";
import type { Env } from "../../src/env.ts";
import { newRealm, type Realm } from "../auth/realm.ts";
import { ask } from "../support/ask.ts";

/** As the limits know a session: by names of its own, in this sandbox. */
async function admit(realm: Realm, sandbox: string): Promise<string> {
  const home = await homeOf(realm);
  const sessionKey = crypto.randomUUID();
  const grant = { persons: [], tokenIds: [] };
  const untilMs = Date.now() + 60_000;
  const sandboxKey = `key of ${sandbox}`;
  const asked = { attempt: { user: "alice" }, connection: "c", grant, sessionKey, untilMs, sandboxKey, sandbox };
  expect(await home.admit(asked)).toEqual({ kind: "admitted" });
  return sessionKey;
}

async function homeOf({ issuer }: Realm) {
  const tenant = { issuer, tenantClaim: "sub", tenantValue: "alice" } as const;
  return (env as unknown as Env).TENANT.getByName(await tenantKey(tenant));
}

async function listed(realm: Realm, more: Partial<Env> = {}): Promise<unknown> {
  const token = await realm.sign({ scope: "sandbox:connect" });
  const bindings = { ...(env as unknown as Env), ...realm.env, ...more };
  const response = await ask("/api/sandboxes", { headers: { Authorization: `Bearer ${token}` } }, bindings);
  return [response.status, await response.json()];
}

test("a sandbox is listed by its name for as long as one of its sessions has not ended", async () => {
  const realm = newRealm();
  expect(await listed(realm)).toEqual([200, { sandboxes: [] }]);
  const sessions = [await admit(realm, "dev"), await admit(realm, "dev"), await admit(realm, "build")];
  expect(await listed(realm)).toEqual([200, { sandboxes: [{ sandbox: "build" }, { sandbox: "dev" }] }]);
  const home = await homeOf(realm);
  await home.ended(sessions[0] ?? "");
  await home.ended(sessions[2] ?? "");
  expect(await listed(realm)).toEqual([200, { sandboxes: [{ sandbox: "dev" }] }]);
});

test("a project that the Project Service refuses the asker is not named, and none is while it is down", async () => {
  const realm = newRealm();
  await admit(realm, "theirs");
  expect(await listed(realm)).toEqual([200, { sandboxes: [{ sandbox: "theirs" }] }]);
  const service = { PROJECT_SERVICE_URL: realm.issuer };
  await realm.set({ validate: { status: 403, body: {} } });
  expect(await listed(realm, service)).toEqual([200, { sandboxes: [] }]);
  await realm.set({ validate: { status: 500, body: {} } });
  expect(await listed(realm, service)).toEqual([503, expect.objectContaining({ error: "validator_unavailable" })]);
  await realm.set({ validate: { status: 200, body: { user_id: "u" } } });
  expect(await listed(realm, service)).toEqual([200, { sandboxes: [{ sandbox: "theirs" }] }]);
});
