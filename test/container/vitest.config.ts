// The tests that need a Docker engine, `npm run test:container`: of containers themselves, and those end-to-end tests that
// neither restart the bridge by itself nor look at its processes and files from outside. One file after the other, since
// some end containers or restart the Worker.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const END_TO_END = [
  ...["access/audit", "access/commands", "access/limits", "access/roles", "access/tickets"],
  ...["dialects/dialects", "dialects/plain-client", "dialects/sandbox-addon"],
  ...["stream/lifetime", "stream/resume", "stream/snapshot"],
];

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    name: "container",
    include: ["container/*.test.ts", ...END_TO_END.map((name) => `e2e/${name}.test.ts`)],
    globalSetup: ["container/global-setup.ts"],
    setupFiles: ["e2e/support/cleanup.ts", "container/cleanup.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 120_000,
    // The image may have to be built first.
    hookTimeout: 600_000,
  },
});
