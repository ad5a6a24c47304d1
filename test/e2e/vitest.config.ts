// The end-to-end tests: clients against running systems, one for each of vitest's workers (global-setup.ts).
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./support/system/longest-first.ts";
import { E2E_WORKERS } from "./support/system/parallel.ts";

const noPlatform = fileURLToPath(new URL("./support/system/no-platform.ts", import.meta.url));

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
    // The modules are loaded once a worker.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    maxWorkers: E2E_WORKERS,
    // Every wait has a limit of its own, which says what was waited for; these are for what hangs elsewhere. A busy machine is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
