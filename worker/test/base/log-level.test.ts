// LOG_LEVEL of the Worker: what it is set to is used, and what is no level is refused.
import { afterEach, expect, test, vi } from "vitest";
import { log } from "../../src/base/log.ts";
import { requireLogLevel } from "../../src/routes/log-level.ts";

afterEach(() => {
  vi.restoreAllMocks();
  requireLogLevel({});
});

test("a level holds from the next request on", () => {
  const said: unknown[][] = [];
  for (const name of ["error", "warn"] as const)
    vi.spyOn(console, name).mockImplementation((...words) => void said.push(words));
  requireLogLevel({ LOG_LEVEL: "error" });
  log.warn("not said");
  log.error("said", 1);
  requireLogLevel({ LOG_LEVEL: "" });
  log.warn("said", 2);
  expect(said).toEqual([
    ["said", 1],
    ["said", 2],
  ]);
});

test("another word is refused, each time, naming the variable", () => {
  const env = { LOG_LEVEL: "loud" };
  for (let i = 0; i < 2; i += 1) {
    expect(() => requireLogLevel(env)).toThrow("LOG_LEVEL must be one of error, warn, info, debug");
  }
});
