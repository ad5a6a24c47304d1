// Where the built parts are: beside the bundle of this code, and in the packages of the two programs that run them.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ServeError } from "./refusal.ts";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const load = createRequire(import.meta.url);

export const WORKER = join(FOLDER, "worker");
export const BRIDGE = join(FOLDER, "bridge/stdio-ws.js");
/** The modules that workerd gets beside the Worker. */
export const MODULES = join(FOLDER, "modules");

/** Changes with every build of the bridge: a running one of another build is replaced once it has nothing left to do. */
export const bridgeBuild = (): string => readFileSync(join(FOLDER, "bridge/build-id"), "utf8").trim();

const { platform, arch } = process;

/** @throws {ServeError} */
export function programs(): { readonly workerd: string; readonly bun: string } {
  const workerd = `@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : arch}/bin/workerd`;
  const bun = `@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : arch}/bin/bun`;
  // In a checkout the package `bun` has taken its program out of the other one.
  return { workerd: find("workerd", [workerd]), bun: find("Bun", [bun, "bun/bin/bun.exe"]) };
}

function find(name: string, candidates: readonly string[]): string {
  for (const candidate of candidates) {
    try {
      const file = load.resolve(candidate);
      if (existsSync(file)) return file;
    } catch {
      // Not installed: the next one.
    }
  }
  throw new ServeError(
    `${name} is not installed for ${platform}-${arch} (${candidates[0]}): install sbx-stdio without --omit=optional`,
  );
}
