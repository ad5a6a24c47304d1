// The real codex command line, of the registry: installed into a cache by its lock file, whose hashes npm checks.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { childEnv } from "../base/env.ts";
import { ROOT } from "../base/paths.ts";

const LOCKED = join(ROOT, "test/e2e/support/agents");

/** @returns The program. */
export function installedCodex(): string {
  const lock = readFileSync(join(LOCKED, "package-lock.json"));
  const cache = join(ROOT, ".local/codex");
  const folder = join(cache, createHash("sha256").update(lock).digest("hex").slice(0, 16));
  const program = join(folder, "node_modules/@openai/codex/bin/codex.js");
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, "new-"));
  for (const name of ["package.json", "package-lock.json"]) cpSync(join(LOCKED, name), join(fresh, name));
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["ci", ...flags], { cwd: fresh, env: childEnv({}), stdio: ["ignore", "inherit", "inherit"] });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return program;
}
