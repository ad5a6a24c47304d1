// The Worker's one file, made as for a deployment. Knows nothing of how it is run.
import { cpSync, rmSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { ROOT } from "../base/paths.ts";
import { type ChildKeeper, ending } from "../processes/children.ts";
import { NotReadyError } from "../processes/ready.ts";

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

/** The page beside the Worker that it was built with: another build, while this one runs, has files of other names. */
export function pageBeside(bundle: string): string {
  return join(dirname(bundle), "page");
}

/** What worker-options.ts writes for that bundle. */
export function optionsBeside(bundle: string): string {
  return join(dirname(bundle), "options.json");
}

/**
 * @throws {NotReadyError} With wrangler's words, if it can't be made.
 */
export async function bundleWorker(keeper: ChildKeeper, options: BundleOptions): Promise<void> {
  const { outDir, logFile, entry, env } = options;
  const bundle = bundleFile(options);
  const run = async (name: string, ...args: string[]): Promise<void> => {
    const child = await keeper.start({ name, command: process.execPath, args, env, cwd: ROOT, logFile });
    const { succeeded, exit, lastLines } = await ending(child);
    await child.stop(0);
    if (!succeeded)
      throw new NotReadyError(`The ${child.name} failed (${exit}). Its log, ${logFile}, ends:\n${lastLines}`);
  };
  rmSync(outDir, { recursive: true, force: true });
  await run(
    "bundling of the Worker",
    join(ROOT, "node_modules/wrangler/bin/wrangler.js"),
    "deploy",
    ...(entry === undefined ? [] : [entry]),
    ...["--dry-run", "--outdir", outDir, "--containers-rollout=none"],
  );
  await run(
    "reading of wrangler.toml",
    join(ROOT, "packages/local/src/system/worker-options.ts"),
    optionsBeside(bundle),
  );
  cpSync(join(ROOT, "packages/dashboard/dist"), pageBeside(bundle), { recursive: true });
}
