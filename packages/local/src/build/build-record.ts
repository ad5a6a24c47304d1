// Skips builds whose sources and results are as the last build left them. Knows nothing of how anything is built.
import { createHash, type Hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readTextIfPresent, writePrivateFile } from "../base/files.ts";
import { ROOT } from "../base/paths.ts";

/** Everything that the page, the command line and a system's parts are built from. */
export const CHECKOUT_SOURCES = [
  ...["package-lock.json", "wrangler.toml", "tsconfig.base.json", "packages", "worker", "sandbox"],
].map((name) => join(ROOT, name));

const NOT_SOURCES = /^(node_modules|dist|test|\..*)$/;

export interface RecordedBuild {
  /** Files and folders; in folders, other packages, tests and outputs don't count. */
  readonly sources: readonly string[];
  /** Holds the hash of the sources and the outputs after the last build. */
  readonly recordFile: string;
  /** Files and folders that the build writes. */
  readonly outputs: readonly string[];
  readonly build: () => Promise<void>;
}

/** @returns Whether it had to be built. Outputs that another program has changed since are built again. */
export async function buildUnlessUnchanged({ recordFile, sources, outputs, build }: RecordedBuild): Promise<boolean> {
  const sourcesHash = hashOf(sources, NOT_SOURCES);
  const record = (): string => `${sourcesHash} ${hashOf(outputs)}\n`;
  if (readTextIfPresent(recordFile) === record()) return false;
  rmSync(recordFile, { force: true });
  await build();
  writePrivateFile(recordFile, record());
  return true;
}

function hashOf(paths: readonly string[], leftOut?: RegExp): string {
  const hash = createHash("sha256");
  for (const path of paths) addTo(hash, path, leftOut);
  return hash.digest("hex");
}

function addTo(hash: Hash, path: string, leftOut?: RegExp): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    const bytes = readFileSync(path);
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
    return;
  }
  for (const name of readdirSync(path).sort()) {
    if (leftOut?.test(name) !== true) addTo(hash, join(path, name), leftOut);
  }
}
