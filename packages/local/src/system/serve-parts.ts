// Builds what `sbx-stdio serve` runs, into packages/sbx-cli/dist/serve: its own code, the Worker with the page, and the bridge. Starts
// nothing that stays.
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, stop } from "esbuild";
import { BIN, ROOT } from "../base/paths.ts";
import { BuildError, runTool } from "../build/tool.ts";
import { ChildKeeper } from "../processes/children.ts";
import { bundleWorker } from "./worker-bundle.ts";
import { workerEnv } from "./worker-env.ts";

export const SERVE_DIR = join(ROOT, "packages/sbx-cli/dist/serve");

/** CommonJS among the dependencies asks for modules of Node as it always did. */
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** What `serve` runs of a Worker. */
const WORKER_FILES = /^(index\.js|options\.json|page(\/.*)?)$/;

/**
 * The page and the command line must have been built.
 * @param workerBundle The outDir of bundleWorker, if one was made. @throws {BuildError}
 */
export async function buildServe(workerBundle?: string): Promise<void> {
  rmSync(SERVE_DIR, { recursive: true, force: true });
  mkdirSync(join(SERVE_DIR, "modules"), { recursive: true });
  await Promise.all([buildOwn(), buildBridgeParts(), copyWorker(workerBundle)]);
  for (const file of [
    "packages/local/src/system/asset-worker.mjs",
    "packages/local/src/system/worker-entry.mjs",
    "packages/serve/src/front/front-entry.mjs",
  ])
    cpSync(join(ROOT, file), join(SERVE_DIR, "modules", file.slice(file.lastIndexOf("/") + 1)));
}

async function buildOwn(): Promise<void> {
  try {
    await build({
      absWorkingDir: ROOT,
      entryPoints: { serve: "packages/serve/src/index.ts", guard: "packages/local/src/processes/guard.ts" },
      outdir: SERVE_DIR,
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

async function buildBridgeParts(): Promise<void> {
  const outDir = join(SERVE_DIR, "bridge");
  for (const source of ["stdio-ws.ts", "src/screen/worker.ts"]) {
    const args = ["build", "--target=bun", "--minify-whitespace", "--minify-syntax", "--outdir", outDir, source];
    await runTool("build the bridge", join(BIN, "bun"), args, { cwd: join(ROOT, "sandbox") });
  }
  const hash = createHash("sha256");
  for (const file of ["stdio-ws.js", "worker.js"]) hash.update(readFileSync(join(outDir, file)));
  writeFileSync(join(outDir, "build-id"), `${hash.digest("hex").slice(0, 16)}\n`);
}

async function copyWorker(bundle: string | undefined): Promise<void> {
  const outDir = bundle ?? join(ROOT, ".local/serve-worker");
  const keeper = new ChildKeeper();
  try {
    const logFile = join(ROOT, ".local/serve-worker.log");
    if (bundle === undefined || !existsSync(bundle))
      await bundleWorker(keeper, { outDir, logFile, env: workerEnv(outDir) });
  } finally {
    keeper.close();
  }
  for (const file of globSync("**/*", { cwd: outDir })) {
    if (WORKER_FILES.test(file)) cpSync(join(outDir, file), join(SERVE_DIR, "worker", file), { recursive: true });
  }
}
