// The unit tests: everything that runs in plain Node. The Worker's, the bridge's and the end-to-end tests have
// configurations of their own, since they need workerd, Bun or a running system.
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// For what hangs. A busy machine is no failure.
const timeouts = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 240_000 } } };
const include = ["test/**/*.test.ts", "test/**/*.test.tsx"];

/** It tells its fixture which program to run, when that is loaded. */
const APART = ["test/attach/terminal-compiled.test.ts"];

const unit = (name: string, root: string, globalSetup: string[] = [], how: object = {}) => ({
  test: { ...timeouts, name, root, include, globalSetup, environment: "node" as const, isolate: false, ...how },
});

export default defineConfig({
  test: {
    // Tests of the command line and of the page wait for processes and browsers more than they work.
    maxWorkers: 2 * availableParallelism(),
    projects: [
      unit("sandbox-stdio", "packages/sandbox-stdio"),
      unit("sbx-cli", "packages/sbx-cli", ["test/global-setup.ts"], { exclude: APART }),
      unit("sbx-cli-apart", "packages/sbx-cli", ["test/global-setup.ts"], { include: APART, isolate: true }),
      unit("chaos", "packages/chaos"),
      unit("api", "packages/api"),
      unit("local", "packages/local"),
      unit("serve", "packages/serve"),
      unit("mcp", "packages/mcp"),
      unit("dashboard", "packages/dashboard", ["test/global-setup.ts"]),
      unit("scripts", "scripts", [], { isolate: true }),
    ],
  },
});
