import { expect, test, vi } from "vitest";
import { childEnv } from "../src/base/env.ts";

test("children get the user's PATH and variables, without what npm and the bootstrap added", () => {
  vi.stubEnv("PATH", ["/work/node_modules/.bin", "/opt/npm/node-gyp-bin", "/usr/bin", "/bin"].join(":"));
  vi.stubEnv("npm_config_loglevel", "silent");
  vi.stubEnv("INIT_CWD", "/work");
  vi.stubEnv("EDITOR", "vim");

  const env = childEnv({ PORT: "1" });

  expect(env.PATH).toBe("/usr/bin:/bin");
  expect(env).not.toHaveProperty("npm_config_loglevel");
  expect(env).not.toHaveProperty("INIT_CWD");
  expect(env).toMatchObject({ EDITOR: "vim", PORT: "1" });
});
