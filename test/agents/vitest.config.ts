// Clients of agents, as they are on the registry, against a running system: `npm run test:long -- agents`. They are too big for the
// checkout's own packages, and are installed by the lock file beside this into a cache.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: {
    name: "agents",
    include: ["*.test.ts"],
    globalSetup: ["../e2e/global-setup.ts"],
    setupFiles: ["../e2e/support/cleanup.ts"],
    environment: "node",
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
