// The bridge's tests. They need Bun: `bun --bun vitest run --config sandbox/vitest.config.ts`.
import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** Shell scripts are imported as text, as Bun itself does. */
const scriptsAsText = {
  name: "scripts-as-text",
  enforce: "pre" as const,
  load: (id: string) =>
    /\.(bash|zsh|fish|sh)$/.test(id) ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : undefined,
};

/** It looks at the whole process, whose threads all the others share. */
const APART = ["test/process/poller.test.ts"];

const project = (name: string, fileParallelism: boolean, include: string[], exclude: string[]) => ({
  plugins: [scriptsAsText],
  test: {
    ...{ name, fileParallelism, include, exclude },
    root: import.meta.dirname,
    environment: "node" as const,
    // vitest's other pool, forks, does not start under Bun 1.4.5 (its child process has no `channel`).
    pool: "threads" as const,
    // For what hangs. A busy machine is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});

export default defineConfig({
  test: {
    maxWorkers: "100%",
    projects: [project("bridge", true, ["test/**/*.test.ts"], APART), project("bridge-apart", false, APART, [])],
  },
});
