// The browsers' end-to-end tests: Chromium, and in firefox.test.ts Firefox, on the built page, over the same running system as the other end-to-end
// tests. One file after the other, since one of them restarts the Worker.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: {
    name: "browser",
    include: ["*.test.ts"],
    globalSetup: ["../e2e/global-setup.ts"],
    environment: "node",
    fileParallelism: false,
    // Every wait has a limit of its own, which says what was waited for; these are for what hangs elsewhere.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
