// The tests that need a Docker engine: `npm run test:container`. One file after the other, since some of them end
// containers or restart the Worker.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: {
    name: "container",
    include: ["*.test.ts"],
    globalSetup: ["./global-setup.ts"],
    setupFiles: ["../e2e/support/cleanup.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 120_000,
    // The image may have to be built first.
    hookTimeout: 600_000,
  },
});
