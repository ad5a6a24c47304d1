// The end-to-end tests: clients against one running system. One file after the other, since some of them restart its
// parts.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const noPlatform = fileURLToPath(new URL("./support/no-platform.ts", import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // matrix.test.ts reads the Worker's routing table from its code.
  resolve: { alias: { "cloudflare:workers": noPlatform, "@cloudflare/sandbox": noPlatform } },
  test: {
    name: "e2e",
    include: ["**/*.test.ts"],
    globalSetup: ["./global-setup.ts"],
    setupFiles: ["./support/cleanup.ts"],
    environment: "node",
    fileParallelism: false,
    // Every wait has a limit of its own, which says what was waited for; these are for what hangs elsewhere.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
