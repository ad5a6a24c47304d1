// Builds the page (packages/dashboard/dist), the command line (packages/sbx-cli/dist/sbx-stdio.js) and the
// bridge for a container. Starts nothing that stays.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { basename, join } from "node:path";
import { build, type Plugin, stop } from "esbuild";
import { childEnv } from "../base/env.ts";
import { BIN, ROOT } from "../base/paths.ts";
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

/** Most runs use none of these, and Node takes long to load them, TLS alone 14 ms of work: so they come at their first use. */
const RARE = /^(node:)?(child_process|https|timers\/promises|tls|v8|vm|zlib)$/;

const load = createRequire(import.meta.url);
/** A function can't be inherited from, and `process` must be itself: it has listeners. */
const isPlain = (builtin: string) => typeof load(builtin) === "object" && !/^(node:)?process$/.test(builtin);

/**
 * What a module of Node is, to those who import it: an object that inherits from it. esbuild would copy each of its properties, once for
 * each file that imports it.
 */
const BUILTINS: Plugin = {
  name: "builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, kind, namespace }) => {
      if (namespace === "builtin") return { path, external: true };
      const isOurs = kind === "import-statement" || (kind === "require-call" && RARE.test(path));
      return isOurs && isBuiltin(path) && isPlain(path) ? { path, namespace: "builtin" } : undefined;
    });
    onLoad({ filter: /./, namespace: "builtin" }, ({ path }) => {
      const builtin = `require(${JSON.stringify(path)})`;
      const parent = RARE.test(path) ? `new Proxy({}, { get: (_, name) => ${builtin}[name] })` : builtin;
      return { contents: `module.exports = Object.create(${parent});` };
    });
  },
};

/** What few runs need: separate files. Code that compares classes can't be shared with them: they would have copies. */
const APART = ["tools/mcp-server", "account/oauth", "attach/emulator"];
export const APART_FILES = APART.map((path) => `dist/${basename(path)}.js`);
const LEAVE_APART: Plugin = {
  name: "apart",
  setup({ onResolve }) {
    // buildParts() makes this module, which has another format and is mostly others' code.
    onResolve({ filter: /^@sbx\/serve$/ }, () => ({ path: "./serve/serve.mjs", external: true }));
    onResolve({ filter: new RegExp(`^\\./(${APART.map((path) => basename(path)).join("|")})\\.ts$`) }, ({ path }) => ({
      path: path.replace(/ts$/, "js"),
      external: true,
    }));
  },
};

/**
 * Bundles the command line into one CommonJS file, beside `package.json` that says so: each module's file costs Node a millisecond, and ES
 * modules more than that. @throws {BuildError}
 */
export async function buildCli(): Promise<void> {
  const cli = join(ROOT, "packages/sbx-cli");
  const bundle = (name: string, source: string, plugins: Plugin[], ownUrl?: typeof OWN_URL) =>
    build({
      absWorkingDir: cli,
      entryPoints: { [name]: source },
      outdir: "dist",
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      ...(ownUrl && { define: { "import.meta.url": "__ownUrl" }, banner: { js: ownUrl } }),
      plugins,
      minifyWhitespace: true,
      minifySyntax: true,
      // The client of ws, without its server.
      alias: { bufferutil: join(cli, "src/connection/mask.ts"), ws: join(ROOT, "node_modules/ws/lib/websocket.js") },
      // Optional natives, and a module that only exists in a Worker: tried at run time, done without.
      external: ["utf-8-validate", "keytar", "cloudflare:workers"],
      logLevel: "silent",
      legalComments: "none",
    });
  try {
    await bundle("sbx-stdio", "src/main.ts", [BUILTINS, LEAVE_APART]);
    for (const path of APART) await bundle(basename(path), `src/${path}.ts`, [BUILTINS], OWN_URL);
    writeFileSync(join(cli, "dist/package.json"), '{"type":"commonjs"}\n');
    // Chunks of an older build.
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
