// `npm run pack`: makes what people install, sandbox-stdio-VERSION.tgz and sbx-stdio-VERSION.tgz, in dist/packages. The sources
// are gathered from the workspace into a staging directory, compiled there by plain tsc, and packed. Nothing is published.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { buildCli, buildPage } from "../packages/local/src/build/builds.ts";
import { packCli, packLibrary } from "../packages/local/src/build/packages.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";
import { buildParts } from "../packages/local/src/system/parts.ts";

/** Where the command line of this checkout finds `serve`. */
const SERVE_DIR = join(ROOT, "packages/sbx-cli/dist/serve");

/**
 * @param outDir Where the files are put; made if missing.
 * @param parts The folder of buildParts, if it was made.
 * @returns Their paths. @throws {BuildError}
 */
export async function packAll(
  outDir: string,
  parts?: string,
): Promise<{ readonly library: string; readonly cli: string }> {
  mkdirSync(outDir, { recursive: true });
  const staging = mkdtempSync(join(tmpdir(), "sbx-pack-"));
  try {
    const command = buildCli().then(() => (parts === undefined ? buildParts(SERVE_DIR) : undefined));
    const [library] = await Promise.all([packLibrary(join(staging, "library"), outDir), command]);
    return { library, cli: await packCli(join(staging, "cli"), outDir, parts ?? SERVE_DIR) };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  try {
    await buildPage();
    const { library, cli } = await packAll(join(ROOT, "dist/packages"));
    console.log(`${library}\n${cli}`);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
