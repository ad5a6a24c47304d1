// Where the built parts of a system are, and the two programs that run them. Builds nothing.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";
import { NotReadyError } from "../processes/ready.ts";

/** In a folder of buildParts(). `modules`: what workerd gets beside the Worker. */
export const partsIn = (folder: string) => ({
  worker: join(folder, "worker/index.js"),
  options: join(folder, "worker/options.json"),
  page: join(folder, "worker/page"),
  bridge: join(folder, "bridge/stdio-ws.js"),
  buildId: join(folder, "bridge/build-id"),
  modules: join(folder, "modules"),
});

/** The name of a folder of parts, by the Worker's main module where that is not wrangler.toml's. */
export const partsName = (entry = "worker"): string => basename(entry, extname(entry));

/** The folder of parts that were built for a whole run of the tests; undefined: none with this main module. */
export function sharedParts(entry?: string): string | undefined {
  const { SBX_PARTS } = process.env;
  const folder = SBX_PARTS === undefined ? undefined : join(SBX_PARTS, partsName(entry));
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

/** Changes with every build of the bridge: a running one of another build is replaced once it has nothing left to do. */
export const bridgeBuild = (folder: string): string => readFileSync(partsIn(folder).buildId, "utf8").trim();

const { platform, arch, execPath } = process;

/** @throws {NotReadyError} */
export function programs(): { readonly workerd: string; readonly bun: string } {
  const workerd = `@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : arch}/bin/workerd`;
  const bun = `@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : arch}/bin/bun`;
  // In a checkout the package `bun` has taken its program out of the other one.
  return { workerd: find("workerd", [workerd]), bun: find("Bun", [bun, "bun/bin/bun.exe"]) };
}

function find(name: string, candidates: readonly string[]): string {
  // A checkout's build may be far from its packages, of which Node is one.
  for (const from of [import.meta.url, execPath]) {
    for (const candidate of candidates) {
      try {
        const file = createRequire(from).resolve(candidate);
        if (existsSync(file)) return file;
      } catch {
        // Not installed: the next one.
      }
    }
  }
  throw new NotReadyError(
    `${name} is not installed for ${platform}-${arch} (${candidates[0]}): install sbx-stdio without --omit=optional`,
  );
}
