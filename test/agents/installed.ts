// The packages of the lock file beside this, installed once into a cache that has the lock's hash for its name.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { run } from "../e2e/support/system/installed.ts";

const FILES = ["package.json", "package-lock.json"];

async function installed(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of FILES) hash.update(readFileSync(new URL(file, import.meta.url)));
  const dir = join(ROOT, ".local/clients", hash.digest("hex").slice(0, 16));
  if (existsSync(dir)) return dir;
  const fresh = `${dir}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const file of FILES) copyFileSync(new URL(file, import.meta.url), join(fresh, file));
  // Most of their peers are other products' clients.
  const flags = ["--ignore-scripts", "--legacy-peer-deps", "--prefer-offline", "--no-audit", "--no-fund"];
  const { code, stdout, stderr } = await run("npm", ["ci", ...flags, "--loglevel=error"], fresh);
  if (code === 0) renameSync(fresh, dir);
  else {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`npm ci failed (${code}):\n${stdout}${stderr}`);
  }
  return dir;
}

/** Where they are. */
export const directory = await installed();
const at = createRequire(join(directory, "index.js"));

/** A module of the installed packages. */
export function load(name: string): unknown {
  return at(name);
}
