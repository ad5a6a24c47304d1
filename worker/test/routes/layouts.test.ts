// What a person's page keeps: for them alone, in one place for all their devices.
import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { tenantKey } from "../../src/auth/names.ts";
import type { Env } from "../../src/env.ts";
import { LayoutStore, MAX_LAYOUTS } from "../../src/layouts/layout-store.ts";
import { newRealm } from "../auth/realm.ts";
import { ask as askWorker } from "../support/ask.ts";

const real = env as unknown as Env;

/** People of one tenant, each by name. */
function people(path = "/api/layout") {
  const realm = newRealm();
  const settings = { ...real, ...realm.env, TENANT_CLAIM: "org_id" };
  const org = crypto.randomUUID();
  return async (sub: string, method = "GET", body?: unknown, scope = "sandbox:connect") => {
    const Authorization = `Bearer ${await realm.sign({ scope, sub: `${sub}-${org}`, org_id: org })}`;
    const init = { method, headers: { Authorization }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await askWorker(path, init, settings);
    return [response.status, await response.json()];
  };
}

test("is kept for each person, and another revision than theirs is told what is there", async () => {
  const ask = people();
  expect(await ask("ada")).toEqual([200, { revision: 0, layout: null }]);
  expect(await ask("ada", "PUT", { revision: 0, layout: { from: "laptop" } })).toEqual([200, { revision: 1 }]);
  expect(await ask("ada")).toEqual([200, { revision: 1, layout: { from: "laptop" } }]);
  expect(await ask("bob")).toEqual([200, { revision: 0, layout: null }]);
  expect(await ask("ada", "PUT", { revision: 0, layout: { from: "phone" } })).toEqual([
    409,
    { error: "other_revision", message: expect.any(String), revision: 1, layout: { from: "laptop" } },
  ]);
  expect(await ask("ada", "PUT", { revision: 1, layout: { from: "phone" } })).toEqual([200, { revision: 2 }]);
  expect(await ask("ada", "PUT", { layout: { from: "anywhere" } })).toEqual([200, { revision: 3 }]);
  expect(await ask("ada")).toEqual([200, { revision: 3, layout: { from: "anywhere" } }]);
});

test("settings are kept beside it, each by itself", async () => {
  const realmAsk = people("/api/preferences");
  expect(await realmAsk("ada")).toEqual([200, { revision: 0, preferences: null }]);
  expect(await realmAsk("ada", "PUT", { preferences: [] })).toEqual([
    400,
    { error: "bad_request", message: '"preferences" must be a JSON object' },
  ]);
  // R4a: the layout has an address of its own.
  expect(await realmAsk("ada", "PUT", { layout: {} })).toMatchObject([400, { error: "unknown_field" }]);
  expect(await realmAsk("ada", "PUT", { preferences: { fontSize: 20 } })).toEqual([200, { revision: 1 }]);
  expect(await realmAsk("ada")).toEqual([200, { revision: 1, preferences: { fontSize: 20 } }]);
  expect(await realmAsk("bob")).toEqual([200, { revision: 0, preferences: null }]);
  await runInDurableObject(real.TENANT.getByName("both kinds"), (_object, { storage }) => {
    const [layouts, preferences] = [new LayoutStore(storage), new LayoutStore(storage, "preferences")];
    layouts.keep("ada", "{}", undefined, 0);
    expect([preferences.read("ada").text, layouts.read("ada").text]).toEqual([undefined, "{}"]);
  });
});

test("takes a JSON object of at most 16 KiB, and nothing else", async () => {
  const ask = people();
  for (const body of [{}, { layout: null }, { layout: [] }, { layout: "x" }, { revision: -1, layout: {} }]) {
    expect([body, (await ask("ada", "PUT", body))[0]]).toEqual([body, 400]);
  }
  expect((await ask("ada", "PUT", { layout: { text: "x".repeat(15_000) } }))[0]).toBe(200);
  expect((await ask("ada", "PUT", { layout: { text: "x".repeat(17_000) } }))[0]).toBe(400);
});

test("of more people than there is room for, the one goes who kept theirs longest ago", async () => {
  const tenant = real.TENANT.getByName(await tenantKey({ issuer: "x", tenantClaim: "sub", tenantValue: "layouts" }));
  await runInDurableObject(tenant, (_object, { storage }) => {
    const store = new LayoutStore(storage);
    for (let i = 0; i < MAX_LAYOUTS; i += 1) store.keep(`user ${i}`, "{}", undefined, i);
    store.keep("user 0", '{"again":1}', undefined, MAX_LAYOUTS);
    store.keep("another", "{}", undefined, MAX_LAYOUTS + 1);
    expect(store.read("user 0").text).toBe('{"again":1}');
    expect([store.read("user 1").text, store.read("user 2").text, store.read("another").text]).toEqual([
      undefined,
      "{}",
      "{}",
    ]);
  });
});
