// The tests that need a Docker engine, `npm run test:container`: of containers themselves, all end-to-end tests that
// left-out.ts does not name, and the clients of agents. One file after the other, since some end containers or restart the Worker.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LEFT_OUT_FILES, LEFT_OUT_TESTS } from "../../scripts/suites/left-out.ts";

const leftOut = Object.entries(LEFT_OUT_TESTS).flatMap(([, titles]) => Object.keys(titles));
const escaped = leftOut.map((title) => title.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));

const noPlatform = fileURLToPath(new URL("../e2e/support/system/no-platform.ts", import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  // Some end-to-end tests read the Worker's tables from its code.
  resolve: { alias: { "cloudflare:workers": noPlatform, "@cloudflare/sandbox": noPlatform } },
  test: {
    name: "container",
    include: ["container/*.test.ts", "e2e/**/*.test.ts", "agents/*.test.ts"],
    exclude: Object.keys(LEFT_OUT_FILES).map((name) => `e2e/${name}.test.ts`),
    ...(escaped.length > 0 ? { testNamePattern: new RegExp(`^(?!.*(${escaped.join("|")}))`) } : {}),
    globalSetup: ["container/global-setup.ts"],
    setupFiles: ["e2e/support/cleanup.ts", "container/cleanup.ts"],
    environment: "node",
    fileParallelism: false,
    env: { TEST_LIMIT_MS: "90000" },
    testTimeout: 300_000,
    // The image may have to be built first.
    hookTimeout: 600_000,
    expect: { poll: { timeout: 90_000 } },
  },
});
