// Copies the workspace's sources into one tree, and makes the names of its packages relative paths: the packed files have none.
import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "../paths.ts";

/** Where each part of the workspace stands in the packed tree. */
const PARTS = {
  core: "packages/sandbox-stdio/src",
  page: "packages/dashboard/src",
  api: "packages/api/src",
  mcp: "packages/mcp/src",
  worker: "worker/src",
} as const;

/** The file of each package of the workspace in that tree. */
const MODULES: Readonly<Record<string, string>> = {
  "sandbox-stdio/core": "core/index.ts",
  "sandbox-stdio/programs": "core/programs/index.ts",
  "sandbox-stdio/shapes": "core/http/shapes.ts",
  "sandbox-stdio/protocol": "core/entry/protocol.ts",
  "sandbox-stdio/client": "core/entry/client.ts",
  "@sbx/api": "api/index.ts",
  "@sbx/mcp": "mcp/index.ts",
  "@sbx/mcp/gateway": "mcp/gateway/index.ts",
  "@sbx/api/patterns": "api/patterns.ts",
};

const SPECIFIER = /(from |import |import\()"((?:sandbox-stdio|@sbx)\/[^"]+)"/g;

/** @throws {Error} Where a source imports a package of the workspace that is not packed. */
export function gather(dir: string): void {
  for (const [part, from] of Object.entries(PARTS)) cpSync(join(ROOT, from), join(dir, part), { recursive: true });
  for (const file of globSync("**/*.{ts,tsx}", { cwd: dir })) {
    const path = join(dir, file);
    const source = readFileSync(path, "utf8");
    const rewritten = source.replace(SPECIFIER, (_, before: string, name: string) => {
      const target = MODULES[name];
      if (target === undefined) throw new Error(`Cannot pack ${file}: it imports ${name}`);
      const path = relative(dirname(file), target);
      return `${before}"${path.startsWith(".") ? path : `./${path}`}"`;
    });
    if (rewritten !== source) writeFileSync(path, rewritten);
  }
}
