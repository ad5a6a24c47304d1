// Runs the tests of worker/test in workerd itself, with the bindings of the Worker's own configuration.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const own = file("../wrangler.toml");
const standIn = file("./test/auth/wrangler.toml");
const isWorkerThere = existsSync(own) && existsSync(file("./src/index.ts"));

export default defineConfig({
  root: file("."),
  plugins: [cloudflareTest({ wrangler: { configPath: isWorkerThere ? own : standIn } })],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["./test/global-setup.ts"],
    maxWorkers: "100%",
    // Nothing takes this long unless it fails, or the machine is busy.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
