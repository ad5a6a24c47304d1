// Where objects are asked to be made. The platform alone has places and jurisdictions: here is seen what it would be asked.
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { placed } from "../../src/base/placement.ts";
import type { SessionObject } from "../../src/objects/session-object.ts";

function namespace() {
  const inside = { getByName: vi.fn(() => "stub"), get: vi.fn(() => "stub"), idFromName: vi.fn(() => "id") };
  return { ...inside, jurisdiction: vi.fn(() => inside), inside };
}

test("without settings the environment is left alone", () => {
  const given = { SESSION: namespace(), LOCATION_HINT: "", JURISDICTION: "" };
  expect(placed(given)).toBe(given);
});

test("a location hint goes with every object that is asked for, by name and by id, and with nothing else", () => {
  const SESSION = namespace();
  const COUNTERS = namespace();
  const given = placed({ SESSION, COUNTERS, LOCATION_HINT: "weur", other: 1 });
  expect(given.SESSION.getByName()).toBe("stub");
  (given.SESSION as unknown as DurableObjectNamespace).getByName("name");
  (given.SESSION as unknown as DurableObjectNamespace).get("id" as unknown as DurableObjectId);
  expect(SESSION.getByName).toHaveBeenLastCalledWith("name", { locationHint: "weur" });
  expect(SESSION.get).toHaveBeenLastCalledWith("id", { locationHint: "weur" });
  expect([given.SESSION.idFromName(), given.COUNTERS, given.other]).toEqual(["id", COUNTERS, 1]);
});

test("with a jurisdiction every object that holds what people do is of it, ids as well", () => {
  const names = ["Sandbox", "SESSION", "TENANT", "ADDRESS", "DIRECTORY"] as const;
  const own = Object.fromEntries(names.map((name) => [name, namespace()]));
  const given = placed({ ...own, JURISDICTION: "eu" }) as unknown as typeof own;
  for (const name of names) {
    expect(own[name]?.jurisdiction.mock.calls).toEqual([["eu"]]);
    expect(given[name]).toBe(own[name]?.inside);
  }
});

test("the runtime's own namespaces are reached through a hint as they are without one", async () => {
  const { SESSION } = placed({
    ...(env as unknown as { SESSION: DurableObjectNamespace<SessionObject> }),
    LOCATION_HINT: "weur",
  });
  const stub = SESSION.getByName("hinted");
  expect(stub.id.toString()).toBe(SESSION.idFromName("hinted").toString());
  expect(await stub.isAlive()).toBe(false);
});
