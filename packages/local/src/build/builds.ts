// Builds the page (packages/dashboard/dist), the command line (packages/sbx-cli/dist/sbx-stdio.js) and the
// bridge for a container. Starts nothing that stays.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { childEnv } from "../env.ts";
import { BIN, ROOT } from "../paths.ts";
import { BuildError, NO_FOLDER, runTool } from "./tool.ts";

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
  const args = ["build", "--compile", ...NO_FOLDER, "--target=bun-linux-x64", "--outfile", "dist/stdio-ws", ...sources];
  await runTool("build the bridge", join(BIN, "bun"), args, { cwd: join(ROOT, "sandbox") });
}

// One dependency asks for its own place, which CommonJS names otherwise.
const OWN_URL = 'const __ownUrl = require("node:url").pathToFileURL(__filename).href;';

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

/** Hundreds of KB that one verb needs: a separate file. Code that compares classes can't be shared with it: it would have copies. */
const APART = "mcp-server";
const LEAVE_APART: Plugin = {
  name: "apart",
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^\\./${APART}\\.ts$`) }, () => ({ path: `./${APART}.js`, external: true }));
  },
};

/**
 * Bundles the command line into one CommonJS file, beside `package.json` that says so: each module's file costs Node a millisecond, and ES
 * modules more than that. @throws {BuildError}
 */
export async function buildCli(): Promise<void> {
  const cli = join(ROOT, "packages/sbx-cli");
  const bundle = (name: string, source: string, plugins: Plugin[]) =>
    build({
      absWorkingDir: cli,
      entryPoints: { [name]: source },
      outdir: "dist",
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      define: { "import.meta.url": "__ownUrl" },
      banner: { js: OWN_URL },
      plugins,
      minifyWhitespace: true,
      minifySyntax: true,
      alias: { bufferutil: join(cli, "src/mask.ts") },
      // Optional natives, and a module that only exists in a Worker: tried at run time, done without.
      external: ["utf-8-validate", "keytar", "cloudflare:workers"],
      logLevel: "silent",
      legalComments: "none",
    });
  try {
    await bundle("sbx-stdio", "src/main.ts", [LAZY_TLS, LEAVE_APART]);
    await bundle(APART, `src/${APART}.ts`, []);
    writeFileSync(join(cli, "dist/package.json"), '{"type":"commonjs"}\n');
    // Of an older build.
    rmSync(join(cli, "dist/chunks"), { recursive: true, force: true });
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
