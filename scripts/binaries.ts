// `npm run binaries [-- PLATFORM…]`: the command line as one file for each platform, with Bun in it:
// packages/sbx-cli/dist/bin/sbx-stdio-PLATFORM. Another platform's Bun is fetched by Bun itself, once.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { childEnv } from "../packages/local/src/env.ts";
import { BIN, ROOT } from "../packages/local/src/paths.ts";
import { BuildError, runTool } from "./build.ts";

export const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "windows-x64"] as const;
export type Platform = (typeof PLATFORMS)[number];

const CLI = join(ROOT, "packages/sbx-cli");
/** Optional natives, and a module that only exists in a Worker: tried at run time, done without. */
const EXTERNAL = ["bufferutil", "utf-8-validate", "keytar", "cloudflare:workers"];

/** @returns The file. @throws {BuildError} */
export async function buildBinary(platform: Platform, directory = join(CLI, "dist/bin")): Promise<string> {
  const file = join(directory, `sbx-stdio-${platform}${platform.startsWith("windows") ? ".exe" : ""}`);
  const args = ["build", "--compile", "--bytecode", `--target=bun-${platform}`, "--outfile", file];
  for (const name of EXTERNAL) args.push("--external", name);
  await runTool(`the program for ${platform}`, join(BIN, "bun"), [...args, "src/main.ts"], {
    cwd: CLI,
    env: childEnv(),
  });
  return file;
}

function platformsOf(words: readonly string[]): readonly Platform[] {
  if (words.length === 0) return PLATFORMS;
  return words.map((word) => {
    const platform = PLATFORMS.find((one) => one === word);
    if (platform === undefined) throw new BuildError(`"${word}" is none of ${PLATFORMS.join(", ")}`);
    return platform;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const platform of platformsOf(process.argv.slice(2))) console.log(await buildBinary(platform));
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
