// Whoever only asks leaves nothing behind: an object that has stored anything is kept for good.
import { env, runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { sandboxKey, sessionKey, tenantKey } from "../../src/auth/names.ts";
import type { Env } from "../../src/env.ts";
import { newRealm, ORIGIN } from "../auth/realm.ts";
import { ask as askWorker } from "../support/ask.ts";

const real = env as unknown as Env;

/** What an object has stored, and whether it is to wake. Looking stores nothing. */
function stored(stub: DurableObjectStub): Promise<unknown> {
  return runInDurableObject(stub, async (_object, { storage }) => {
    const tables = storage.sql.exec("SELECT name FROM sqlite_master ORDER BY name").toArray();
    return { tables, keys: (await storage.list()).size, alarm: await storage.getAlarm() };
  });
}

const NOTHING = { tables: [], keys: 0, alarm: null };

test("asking about sandboxes and sessions that are not there stores nothing, whatever is asked", async () => {
  const realm = newRealm();
  const settings = { ...real, ...realm.env, BRIDGE_URL: "http://127.0.0.1:9", STDIO_TOKEN: "a secret of 16 and more" };
  const Authorization = `Bearer ${await realm.sign({ scope: "sandbox:admin", sub: crypto.randomUUID() })}`;
  const ask = async (path: string, method = "GET", body?: object): Promise<number> => {
    const init = { method, headers: { Authorization }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return (await askWorker(path, init, settings)).status;
  };
  const at = "/api/sandboxes/box/sessions";
  expect([await ask(at), await ask(`${at}/s`), await ask(`${at}/s`, "DELETE"), await ask(`${at}/s/audit`)]).toEqual([
    ...[200, 404, 404, 404],
  ]);
  expect([await ask(`${at}/s/tickets`), await ask(`${at}/s/tickets/t`, "DELETE")]).toEqual([404, 404]);
  expect(await ask(`${at}/s/share`, "POST", {})).toBe(404);
  for (const what of ["output", "screen", "commands", "output?tail=10&format=plain"]) {
    expect([what, await ask(`${at}/s/${what}`)]).toEqual([what, 404]);
  }
  const calls: readonly (readonly [string, object])[] = [
    ["input", { text: "x" }],
    ["wait", { until: { exit: true }, timeoutMs: 0 }],
    ["signal", { signal: "SIGINT" }],
    ["resize", { cols: 80, rows: 24 }],
    ["keyboard", { do: "take" }],
  ];
  for (const [what, body] of calls) expect([what, await ask(`${at}/s/${what}`, "POST", body)]).toEqual([what, 404]);
  for (const path of ["/api/audit", "/api/me", "/api/layout", "/api/preferences", "/api/push"]) {
    expect([path, await ask(path)]).toEqual([path, 200]);
  }
  expect(await ask("/api/tickets", "POST", { session: "s", sandbox: "box" })).toBe(200);
  const me = (await (await askWorker("/api/me", { headers: { Authorization } }, settings)).json()) as {
    subject: string;
  };
  const tenant = { issuer: realm.issuer, tenantClaim: "sub", tenantValue: me.subject } as const;
  expect(await stored(real.DIRECTORY.getByName(await sandboxKey(tenant, "box")))).toEqual(NOTHING);
  expect(await stored(real.SESSION.getByName(await sessionKey(tenant, "box", "s")))).toEqual(NOTHING);
  expect(await stored(real.TENANT.getByName(await tenantKey(tenant)))).toEqual(NOTHING);
});

test("an attach that is refused where there was never a session stores nothing there, and is in the Worker's log", async () => {
  const realm = newRealm();
  const settings = { ...real, ...realm.env };
  const sub = crypto.randomUUID();
  const logged = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const ask = async (query: string, scope: string): Promise<number> => {
    const Authorization = `Bearer ${await realm.sign({ scope, sub })}`;
    const headers = { Authorization, Upgrade: "websocket", Origin: ORIGIN };
    return (await askWorker(`/attach?sandbox=box&session=s${query}`, { headers }, settings)).status;
  };
  const viewer = await askWorker(
    "/api/tickets",
    {
      method: "POST",
      headers: { Authorization: `Bearer ${await realm.sign({ scope: "sandbox:exec", sub })}`, Origin: ORIGIN },
      body: JSON.stringify({ sandbox: "box", session: "s", role: "viewer" }),
    },
    settings,
  );
  const { ticket } = (await viewer.json()) as { ticket: string };
  expect(await ask("&role=viewer", "sandbox:exec")).toBe(404);
  expect(await ask("", "sandbox:connect")).toBe(403);
  expect(await ask("&offset=5", "sandbox:exec")).toBe(400);
  expect(await ask("&resume=none", "sandbox:exec")).toBe(400);
  expect(await ask(`&role=viewer&ticket=${ticket}`, "sandbox:exec")).toBe(404);
  const tenant = { issuer: realm.issuer, tenantClaim: "sub", tenantValue: sub } as const;
  const session = real.SESSION.getByName(await sessionKey(tenant, "box", "s"));
  expect(await session.audit(0, 10)).toBeUndefined();
  expect(await stored(session)).toEqual(NOTHING);
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
  expect(
    lines.filter(({ session: name }) => name === "s").map(({ audit, error, user }) => [audit, error, user]),
  ).toEqual(
    ["not_found", "forbidden", "bad_request", "bad_request", "not_found"].map((error) => ["refused", error, sub]),
  );
  logged.mockRestore();
});

test("a sandbox's list is there from its first session on, and read by a later life of its object", async () => {
  const stub = real.DIRECTORY.getByName(crypto.randomUUID());
  expect(await stub.list()).toEqual([]);
  await stub.remove("none");
  expect(await stored(stub)).toEqual(NOTHING);
  await stub.add("one", "2026-01-01T00:00:00.000Z");
  await stub.add("two", "2026-01-02T00:00:00.000Z");
  await stub.remove("one");
  expect(await stub.list()).toEqual(["two"]);
});
