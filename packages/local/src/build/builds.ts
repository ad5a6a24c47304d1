// Builds the page (packages/dashboard/dist), the command line (packages/sbx-cli/dist/sbx-stdio.js, and chunks beside it) and the
// bridge for a container. Starts nothing that stays.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { childEnv } from "../env.ts";
import { BIN, ROOT } from "../paths.ts";
import { BuildError, runTool } from "./tool.ts";

/** Builds the page with vite. @throws {BuildError} */
export async function buildPage(signal?: AbortSignal): Promise<void> {
  const cwd = join(ROOT, "packages/dashboard");
  const args = [join(ROOT, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"];
  const env = childEnv({ NODE_ENV: "production" });
  await runTool("build the page", process.execPath, args, { cwd, env, signal });
  const index = join(cwd, "dist/index.html");
  if (!existsSync(index)) throw new BuildError(`Cannot build the page: vite wrote no ${index}`);
}

/** Compiles the bridge for the container: one file, with the Bun that the project pins. @throws {BuildError} */
export async function buildBridge(): Promise<void> {
  // A worker of a compiled program must be an entry point of its own.
  const sources = ["stdio-ws.ts", "src/screen/worker.ts"];
  const args = ["build", "--compile", "--target=bun-linux-x64", "--outfile", "dist/stdio-ws", ...sources];
  await runTool("build the bridge", join(BIN, "bun"), args, { cwd: join(ROOT, "sandbox") });
}

// Some dependencies are CommonJS and call require(), which an ES module doesn't have.
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** Node's TLS takes 14 ms of work to load, and ws loads it at its start: so it comes with the first connection that needs it. */
const LAZY_TLS: Plugin = {
  name: "lazy-tls",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(https|tls)$/ }, ({ path, importer }) =>
      /[\\/]node_modules[\\/]ws[\\/]/.test(importer) ? { path, namespace: "lazy" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "lazy" }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get: (_, name) => require("node:${path}")[name] });`,
    }));
    onResolve({ filter: /.*/, namespace: "lazy" }, ({ path }) => ({ path, external: true }));
  },
};

/** Bundles the command line: code that a run does not need is in chunks that it does not read. @throws {BuildError} */
export async function buildCli(): Promise<void> {
  const cli = join(ROOT, "packages/sbx-cli");
  try {
    const { metafile } = await build({
      absWorkingDir: cli,
      entryPoints: { "sbx-stdio": "src/main.ts" },
      outdir: "dist",
      chunkNames: "chunks/[name]-[hash]",
      splitting: true,
      metafile: true,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      banner: { js: REQUIRE },
      plugins: [LAZY_TLS],
      alias: { bufferutil: join(cli, "src/mask.ts") },
      // Optional natives, and a module that only exists in a Worker: tried at run time, done without.
      external: ["utf-8-validate", "keytar", "cloudflare:workers"],
      logLevel: "silent",
      legalComments: "none",
    });
    const made = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
    const chunks = join(cli, "dist/chunks");
    for (const name of readdirSync(chunks)) if (!made.has(name)) rmSync(join(chunks, name));
  } catch (error) {
    throw new BuildError(`Cannot build the command line: ${error instanceof Error ? error.message : error}`);
  } finally {
    // Its helper process would otherwise stay as long as we do.
    await stop();
  }
}

/** Both, side by side. @throws {BuildError} The first that failed; an AbortError once `signal` is aborted. */
export async function buildAll(signal?: AbortSignal): Promise<void> {
  await Promise.all([buildPage(signal), buildCli()]);
}
