// The source files of the tree, without tests: those of every package, the Worker, the bridge and the scripts.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import type { SourceFile } from "./import-direction.ts";

const SOURCES = [
  "packages/*/src/**/*.{ts,tsx}",
  "worker/src/**/*.ts",
  "sandbox/*.ts",
  "sandbox/src/**/*.ts",
  "scripts/!(test)/**/*.ts",
  "scripts/*.ts",
];

export function sourceFiles(): SourceFile[] {
  const paths = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort();
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** The part of the tree by its package's name. */
export function workspacePackages(): Map<string, string> {
  const files = globSync(["packages/*/package.json", "worker/package.json", "sandbox/package.json"], { cwd: ROOT });
  return new Map(
    files.map((file) => {
      const { name }: { name: string } = JSON.parse(readFileSync(join(ROOT, file), "utf8"));
      return [name, file.slice(0, -"/package.json".length)];
    }),
  );
}
