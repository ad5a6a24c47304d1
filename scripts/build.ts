// `npm run build`, and the first step of `npm start`: the page (packages/dashboard/dist) and the command line
// (packages/sbx-cli/dist/sbx-stdio.js, and chunks beside it). Starts nothing that stays.
import { type SpawnOptions, spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build, stop } from "esbuild";
import { childEnv } from "../packages/local/src/env.ts";
import { BIN, ROOT } from "../packages/local/src/paths.ts";

/** A build failed; the message says which and holds the tool's own output. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

/** Runs a build tool. @throws {BuildError} With the tool's output, unless it ends with 0. */
export async function runTool(what: string, command: string, args: string[], options: SpawnOptions): Promise<void> {
  const child = spawn(command, args, { ...options, stdio: "pipe" });
  const output: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new BuildError(`Cannot build ${what} (exit code ${code}):\n${Buffer.concat(output)}`);
}

/** Builds the page with vite. @throws {BuildError} */
export async function buildPage(signal?: AbortSignal): Promise<void> {
  const cwd = join(ROOT, "packages/dashboard");
  const args = [join(ROOT, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"];
  const env = childEnv({ NODE_ENV: "production" });
  await runTool("the page", process.execPath, args, { cwd, env, ...(signal === undefined ? {} : { signal }) });
  const index = join(cwd, "dist/index.html");
  if (!existsSync(index)) throw new BuildError(`Cannot build the page: vite wrote no ${index}`);
}

/** Compiles the bridge for the container: one file, with the Bun that the project pins. @throws {BuildError} */
export async function buildBridge(): Promise<void> {
  // A worker of a compiled program must be an entry point of its own.
  const sources = ["stdio-ws.ts", "src/screen/worker.ts"];
  const args = ["build", "--compile", "--target=bun-linux-x64", "--outfile", "dist/stdio-ws", ...sources];
  await runTool("the bridge", join(BIN, "bun"), args, { cwd: join(ROOT, "sandbox"), env: childEnv() });
}

// Some dependencies are CommonJS and call require(), which an ES module doesn't have.
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

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
      // Optional natives, and a module that only exists in a Worker: tried at run time, done without.
      external: ["bufferutil", "utf-8-validate", "keytar", "cloudflare:workers"],
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

if (import.meta.main) {
  try {
    await buildAll();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
