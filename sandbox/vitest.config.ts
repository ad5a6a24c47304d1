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

export default defineConfig({
  plugins: [scriptsAsText],
  test: {
    name: "bridge",
    root: import.meta.dirname,
    include: ["test/**/*.test.ts"],
    environment: "node",
    // vitest's other pool, forks, does not start under Bun 1.4.5 (its child process has no `channel`).
    pool: "threads",
    // One at a time: they count descriptors, children and processor time of the whole process.
    fileParallelism: false,
    testTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
