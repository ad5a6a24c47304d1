// `npm run deploy`: builds the page and the bridge, and hands the rest to wrangler, with whatever arguments were given.
// Needs a Cloudflare account and Docker, for the image.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { BuildError, buildBridge, buildPage } from "./build.ts";
import { BIN, ROOT } from "./local/paths.ts";

try {
  await Promise.all([buildPage(), buildBridge()]);
  const { status } = spawnSync(join(BIN, "wrangler"), ["deploy", ...process.argv.slice(2)], {
    cwd: ROOT,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
