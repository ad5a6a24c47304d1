// The suites of `npm test`, in the order in which they run: cheap ones first, and those that need no system beside those that do. A table; test.ts runs it.
import { globSync } from "node:fs";
import { join } from "node:path";
import { BIN, ROOT } from "../../packages/local/src/base/paths.ts";

export type Suite = {
  readonly name: string;
  /** Needs build.ts's output: the page and the command line. */
  readonly needsBuild?: boolean;
  /** Runs beside the end-to-end and browser tests, which wait now and then; what it prints comes when it has ended. */
  readonly isBeside?: boolean;
} & (
  | { readonly kind: "checks"; readonly checks: readonly Command[] }
  | {
      readonly kind: "vitest";
      /** Added to `vitest run`. */
      readonly args: readonly string[];
      readonly runtime: "node" | "bun";
      /** Directories, from the top of the checkout, each of which must have had a test. */
      readonly directories: readonly string[];
    }
);

/** A program with its arguments; it passes by ending with 0. */
export interface Command {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

const UNIT_PACKAGES = ["sandbox-stdio", "sbx-cli", "chaos", "api", "mcp", "dashboard", "local", "serve"];

const tool = (name: string): string => join(BIN, name);

/** Every tsconfig of the checkout, so that none is forgotten. The one at the top is for all that runs in Node: each more costs seconds. */
function typeChecks(): Command[] {
  const exclude = ["**/node_modules", ".local", "tsconfig.base.json"];
  const files = globSync("**/tsconfig*.json", { cwd: ROOT, exclude }).sort();
  return files.map((file) => ({
    name: `tsc -p ${file}`,
    command: tool("tsc"),
    // What it found is kept: the next run looks only at what has changed. Several checkers find most types several times.
    args: [
      "-p",
      file,
      "--checkers",
      "1",
      "--incremental",
      "--tsBuildInfoFile",
      join(ROOT, ".local/tsc", file.replaceAll("/", "-")),
    ],
  }));
}

/** @param outDir Where the bundle of the dry run is written; thrown away. */
export function suites(outDir: string): Suite[] {
  return [
    {
      name: "lint",
      isBeside: true,
      kind: "checks",
      checks: [
        { name: "biome check", command: tool("biome"), args: ["check", "--error-on-warnings", "."] },
        { name: "rules of the tree", command: process.execPath, args: ["scripts/check-tree.ts"] },
      ],
    },
    { name: "types", isBeside: true, kind: "checks", checks: typeChecks() },
    {
      name: "unit",
      isBeside: true,
      kind: "vitest",
      runtime: "node",
      args: [...UNIT_PACKAGES, "sbx-cli-apart"].map((name) => `--project=${name}`),
      directories: UNIT_PACKAGES.map((name) => `packages/${name}`),
    },
    {
      // Apart, since these read the whole tree: every change can break them.
      name: "scripts",
      isBeside: true,
      kind: "vitest",
      runtime: "node",
      args: ["--project=scripts"],
      directories: ["scripts"],
    },
    {
      name: "worker",
      isBeside: true,
      kind: "vitest",
      runtime: "node",
      args: ["--config", "worker/vitest.config.ts"],
      directories: ["worker"],
      needsBuild: true,
    },
    {
      name: "bridge",
      isBeside: true,
      kind: "vitest",
      runtime: "bun",
      args: ["--config", "sandbox/vitest.config.ts"],
      directories: ["sandbox"],
    },
    {
      name: "e2e",
      kind: "vitest",
      runtime: "node",
      args: ["--config", "test/e2e/vitest.config.ts"],
      directories: ["test/e2e"],
      needsBuild: true,
    },
    {
      name: "browser",
      kind: "vitest",
      runtime: "node",
      args: ["--config", "test/browser/vitest.config.ts"],
      directories: ["test/browser"],
      needsBuild: true,
    },
    {
      name: "deploy",
      isBeside: true,
      kind: "checks",
      needsBuild: true,
      checks: [
        {
          name: "wrangler deploy --dry-run",
          command: tool("wrangler"),
          // The rollout of containers would build the image, which needs Docker.
          args: ["deploy", "--dry-run", "--containers-rollout=none", "--outdir", outDir],
          env: { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" },
        },
      ],
    },
  ];
}
