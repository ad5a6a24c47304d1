// The list of a sandbox's sessions: what is added at about the same time is stored together, and listed at once.
import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Env } from "../../src/env.ts";

test("sessions that begin at about the same time are stored together, and each is listed and removed at once", async () => {
  const stub = (env as unknown as Env).DIRECTORY.getByName(crypto.randomUUID());
  await runInDurableObject(stub, async (directory, { storage }) => {
    const tables = () => storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'sessions'").toArray().length;
    const added = ["a", "b"].map((name, i) => directory.add(name, `2026-11-26T11:00:0${i}Z`));
    expect(tables()).toBe(0);
    await Promise.all(added);
    expect(tables()).toBe(1);
    const late = directory.add("c", "2026-11-26T11:00:02Z");
    expect(directory.list()).toEqual(["c", "b", "a"]);
    const later = directory.add("d", "2026-11-26T11:00:03Z");
    directory.remove("d");
    expect(directory.page(2)).toEqual({ names: ["c", "b"], next: "b" });
    await Promise.all([late, later]);
    expect(directory.list()).toEqual(["c", "b", "a"]);
  });
});
