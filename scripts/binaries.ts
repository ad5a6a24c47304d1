// `npm run binaries [-- PLATFORM…]`: the command line as one file for each platform, or for those that are named.
import { buildBinary, PLATFORMS, type Platform } from "../packages/local/src/build/binaries.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";

function platformsOf(words: readonly string[]): readonly Platform[] {
  if (words.length === 0) return PLATFORMS;
  return words.map((word) => {
    const platform = PLATFORMS.find((one) => one === word);
    if (platform === undefined) throw new BuildError(`"${word}" is none of ${PLATFORMS.join(", ")}`);
    return platform;
  });
}

try {
  for (const platform of platformsOf(process.argv.slice(2))) console.log(await buildBinary(platform));
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
