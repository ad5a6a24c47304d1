// The Worker's one file, made as for a deployment. Knows nothing of how it is run.
import { rmSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { type ChildKeeper, ending } from "./children.ts";
import { ROOT } from "./paths.ts";
import { NotReadyError } from "./ready.ts";

export interface BundleOptions {
  /** Is emptied. */
  readonly outDir: string;
  readonly logFile: string;
  /** The main module in place of wrangler.toml's, relative to the top of the checkout. */
  readonly entry?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** Where {@link bundleWorker} puts it. */
export function bundleFile({ outDir, entry = "index.ts" }: Pick<BundleOptions, "outDir" | "entry">): string {
  return join(outDir, `${basename(entry, extname(entry))}.js`);
}

/**
 * @throws {NotReadyError} With wrangler's words, if it can't be made.
 */
export async function bundleWorker(keeper: ChildKeeper, options: BundleOptions): Promise<void> {
  const { outDir, logFile, entry, env } = options;
  rmSync(outDir, { recursive: true, force: true });
  const child = await keeper.start({
    name: "bundling of the Worker",
    command: process.execPath,
    args: [
      join(ROOT, "node_modules/wrangler/bin/wrangler.js"),
      "deploy",
      ...(entry === undefined ? [] : [entry]),
      ...["--dry-run", "--outdir", outDir, "--containers-rollout=none"],
    ],
    env,
    cwd: ROOT,
    logFile,
  });
  const { succeeded, exit, lastLines } = await ending(child);
  await child.stop(0);
  if (!succeeded)
    throw new NotReadyError(`The ${child.name} failed (${exit}). Its log, ${logFile}, ends:\n${lastLines}`);
}
