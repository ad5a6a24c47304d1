// Requests that are refused before any session: anybody may cause as many lines of the Worker's log as they like.
import { afterEach, expect, test, vi } from "vitest";
import { logRefused } from "../../src/audit/worker-log.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("a refused request is a short line of the Worker's log, however long its path is", () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const fault = { code: "no_token", message: "Log in, or give a token" };
  for (const path of ["/api/me", `/api/${"z".repeat(15_000)}`])
    logRefused(new Request(`https://x.test${path}?token=t`, { method: "GET" }), fault);
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as { path: string });
  expect(lines.map(({ path }) => path)).toEqual(["/api/me", `/api/${"z".repeat(251)}…`]);
});
