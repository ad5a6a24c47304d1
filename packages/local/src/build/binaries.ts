// The command line as one file for each platform, with Bun in it: packages/sbx-cli/dist/bin/sbx-stdio-PLATFORM. Another
// platform's Bun is fetched by Bun itself, once.
import { join } from "node:path";
import { BIN, ROOT } from "../base/paths.ts";
import { NO_FOLDER, runTool } from "./tool.ts";

export const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"] as const;
export type Platform = (typeof PLATFORMS)[number];

const CLI = join(ROOT, "packages/sbx-cli");
/** Optional natives, and a module that only exists in a Worker: tried at run time, done without. */
const EXTERNAL = ["bufferutil", "utf-8-validate", "keytar", "cloudflare:workers", "@sbx/serve"];

/** Less is read at the start: code of verbs that are not used stays apart. Names are kept, for an internal error's lines. */
const SMALL = ["--format=esm", "--splitting", "--minify-whitespace", "--minify-syntax"];

/** @returns The file. @throws {BuildError} */
export async function buildBinary(platform: Platform, directory = join(CLI, "dist/bin")): Promise<string> {
  const file = join(directory, `sbx-stdio-${platform}${platform.startsWith("windows") ? ".exe" : ""}`);
  const args = [
    "build",
    "--compile",
    ...NO_FOLDER,
    ...SMALL,
    "--bytecode",
    `--target=bun-${platform}`,
    "--outfile",
    file,
  ];
  for (const name of EXTERNAL) args.push("--external", name);
  await runTool(`build the program for ${platform}`, join(BIN, "bun"), [...args, "src/main.ts"], { cwd: CLI });
  return file;
}
