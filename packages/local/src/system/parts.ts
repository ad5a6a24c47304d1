// What a system runs, built into one folder: the code of `serve`, the Worker with its page and the bridge.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { build, stop } from "esbuild";
import { BIN, ROOT } from "../base/paths.ts";
import { BuildError, runTool } from "../build/tool.ts";
import { partsIn, partsName, sharedParts } from "./installed.ts";
import { type System, type SystemOptions, startSystem } from "./system.ts";
import { workerEnv } from "./worker-env.ts";

/** CommonJS among the dependencies asks for modules of Node as it always did. */
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

const MODULES = [
  "packages/local/src/system/asset-worker.mjs",
  "packages/local/src/system/folder-bucket.mjs",
  "packages/local/src/system/worker-entry.mjs",
  "packages/serve/src/front/front-entry.mjs",
];

export interface PartsOptions {
  /** The Worker's main module in place of wrangler.toml's, relative to the top of the checkout. */
  readonly workerEntry?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The page must have been built, unless nobody looks at it. @param folder Is emptied. @throws {BuildError} */
export async function buildParts(folder: string, options: PartsOptions = {}): Promise<void> {
  const { modules, page } = partsIn(folder);
  rmSync(folder, { recursive: true, force: true });
  for (const made of [modules, join(folder, "worker")]) mkdirSync(made, { recursive: true });
  // The Worker's configuration names it.
  mkdirSync(join(ROOT, "packages/dashboard/dist"), { recursive: true });
  await Promise.all([
    buildOwn(folder),
    buildBridgeParts(folder, options),
    bundleWorker(folder, options),
    readWorkerOptions(folder, options),
  ]);
  // A copy: another build, while this one runs, has files of other names.
  cpSync(join(ROOT, "packages/dashboard/dist"), page, { recursive: true });
  for (const file of MODULES) cpSync(join(ROOT, file), join(modules, basename(file)));
}

async function buildOwn(outdir: string): Promise<void> {
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: { serve: "packages/serve/src/index.ts", guard: "packages/local/src/processes/guard.ts" },
      outdir,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      banner: { js: REQUIRE },
      // oidc-provider warns of a Node before 22, which the packed file's tests run with.
      define: { "globalThis.process.release": '{ "lts": "Jod" }' },
      // oidc-provider finds settings by its classes' names.
      keepNames: true,
      minifyWhitespace: true,
      minifySyntax: true,
      logLevel: "silent",
      legalComments: "none",
    });
  } catch (error) {
    throw new BuildError(`Cannot build serve: ${error instanceof Error ? error.message : error}`);
  } finally {
    await stop();
  }
}

async function buildBridgeParts(folder: string, { signal }: PartsOptions): Promise<void> {
  const outdir = join(folder, "bridge");
  const sources = ["stdio-ws.ts", "src/screen/worker.ts"];
  const bundled = sources.map((source) => {
    const args = ["build", "--target=bun", "--minify-whitespace", "--minify-syntax", "--outdir", outdir, source];
    return runTool("build the bridge", join(BIN, "bun"), args, { cwd: join(ROOT, "sandbox"), signal });
  });
  await Promise.all(bundled);
  const hash = createHash("sha256");
  for (const source of sources) hash.update(readFileSync(join(outdir, `${basename(source, ".ts")}.js`)));
  writeFileSync(partsIn(folder).buildId, `${hash.digest("hex").slice(0, 16)}\n`);
}

const runNode = (what: string, folder: string, args: readonly string[], signal: AbortSignal | undefined) =>
  runTool(what, process.execPath, args, { cwd: ROOT, env: workerEnv(join(folder, "bundled")), signal });

/** One file, as for a deployment. */
async function bundleWorker(folder: string, { workerEntry: entry, signal }: PartsOptions): Promise<void> {
  const outDir = join(folder, "bundled");
  const args = ["deploy", ...(entry === undefined ? [] : [entry]), "--dry-run", "--outdir", outDir];
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  await runNode("bundle the Worker", folder, [wrangler, ...args, "--containers-rollout=none"], signal);
  const name = entry === undefined ? "index" : basename(entry, extname(entry));
  renameSync(join(outDir, `${name}.js`), partsIn(folder).worker);
  rmSync(outDir, { recursive: true });
}

/** What wrangler.toml says of the Worker. */
async function readWorkerOptions(folder: string, { signal }: PartsOptions): Promise<void> {
  const reader = join(ROOT, "packages/local/src/system/worker-options.ts");
  await runNode("read wrangler.toml", folder, [reader, partsIn(folder).options], signal);
}

/**
 * Builds parts for all systems of a run of the tests, which finds the folder in `SBX_PARTS`.
 *
 * @param entries Main modules of the Worker, beside wrangler.toml's.
 */
export async function buildSharedParts(folder: string, entries: readonly string[], signal: AbortSignal): Promise<void> {
  const usual = join(folder, partsName());
  await buildParts(usual, { signal });
  for (const workerEntry of entries) {
    const parts = join(folder, partsName(workerEntry));
    cpSync(usual, parts, { recursive: true });
    await bundleWorker(parts, { workerEntry, signal });
  }
}

/** Starts a system with shared parts, or else builds some for it alone. @throws {BuildError} Else as {@link startSystem}. */
export async function buildAndStart(options: Omit<SystemOptions, "parts"> & PartsOptions): Promise<System> {
  const shared = sharedParts(options.workerEntry);
  const parts = shared ?? join(options.dir, "parts");
  if (shared === undefined) await buildParts(parts, options);
  return startSystem({ ...options, parts });
}
