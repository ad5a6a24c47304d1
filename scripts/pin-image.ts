// `npm run pin-image`: puts the digest of its base image into sandbox/Dockerfile, so that the tag can't come to mean another.
// `-- --check` changes nothing, and fails where the tag means another by now, or nothing is pinned.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { digestOf, parseImage, RegistryError } from "./deployment/image-digest.ts";

const FROM = /^FROM (\S+)$/m;

const command = new Command("npm run pin-image --")
  .description("Pins the base image of the sandbox by its digest")
  .option("--check", "only say whether the digest is the tag's")
  .option("--registry <url>", "a mirror of the image's registry")
  .option("--file <path>", "the Dockerfile", join(ROOT, "sandbox/Dockerfile"))
  .allowExcessArguments(false)
  .parse();
const { check, registry, file } = command.opts<{ check?: boolean; registry?: string; file: string }>();

try {
  const text = readFileSync(file, "utf8");
  const image = parseImage(FROM.exec(text)?.[1] ?? "");
  const digest = await digestOf(image, registry);
  const pinned = `${image.name}:${image.tag}@${digest}`;
  if (image.digest === digest) console.log(`Pinned already: ${pinned}`);
  else if (check === true) {
    throw new RegistryError(`${image.name}:${image.tag} is ${digest} now; pinned: ${image.digest ?? "nothing"}`);
  } else {
    writeFileSync(file, text.replace(FROM, `FROM ${pinned}`));
    console.log(`Pinned ${pinned}${image.digest === undefined ? "" : `, was ${image.digest}`}`);
  }
} catch (error) {
  if (!(error instanceof RegistryError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
