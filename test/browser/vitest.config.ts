// The browsers' end-to-end tests: Chromium, and in firefox.test.ts Firefox, on the built page, over running systems as the other end-to-end
// tests have them: one for each of vitest's workers.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "../e2e/support/system/longest-first.ts";
import { BROWSER_WORKERS } from "../e2e/support/system/parallel.ts";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: {
    name: "browser",
    // Pictures are taken where somebody asks for them.
    include: [
      "*.test.ts",
      "keyboard/*.test.ts",
      ...(process.env.SBX_SCREENSHOTS === "1" ? ["pictures/*.test.ts"] : []),
    ],
    globalSetup: ["../e2e/global-setup.ts"],
    environment: "node",
    // The modules are loaded once a worker.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    maxWorkers: BROWSER_WORKERS,
    // Every wait has a limit of its own, which says what was waited for; these are for what hangs elsewhere. A busy machine is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
