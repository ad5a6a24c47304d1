// When the alarm looks at a process that no client follows.
import { expect, test } from "vitest";
import { DetachedProcess } from "../../src/session/detached.ts";

test("G2: a recorded process that runs without clients is looked at every 15 s, also in the object's next life", async () => {
  const stored = new Map<string, unknown>();
  const kv = { get: (key: string) => stored.get(key), put: (key: string, value: unknown) => stored.set(key, value) };
  const life = () => new DetachedProcess({} as never, {} as never, kv as never, { state: { at: "running" } } as never);
  const first = life();
  expect([first.guard(1_000), first.dueMs]).toEqual([true, 16_000]);
  expect([first.guard(5_000), first.dueMs]).toEqual([false, 16_000]);
  const next = life();
  expect(next.dueMs).toBe(16_000);
  await next.tick(16_000);
  expect([next.guard(16_000), next.dueMs]).toEqual([true, 31_000]);
});
