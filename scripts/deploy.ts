// `npm run deploy`: checks what a deployment needs, builds the page, the command line and the bridge, and hands the rest to
// wrangler, with whatever arguments were given. Needs a Cloudflare account, and Docker for the image.
import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { engineVersion, NoEngineError } from "../packages/local/src/base/docker.ts";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { buildBridge, buildCli, buildPage } from "../packages/local/src/build/builds.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";
import { containerProblems, newSecrets, readArguments, settingProblems } from "./deployment/checks.ts";
import { DeployError, type Deployment, deploy, deployedSecrets, takeSettings } from "./deployment/wrangler.ts";

const DEPLOYMENT: Deployment = {
  directory: ROOT,
  env: process.env,
  isShown: true,
  say: (line) => console.log(line),
};

/** @returns Values for the secrets that the Worker lacks. @throws {DeployError} With everything that is wrong. */
async function check(args: readonly string[]): Promise<Record<string, string>> {
  const { vars, isDryRun, buildsImage } = readArguments(args);
  const config = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
  const entry = args.find((arg) => arg.endsWith(".ts"));
  const problems = settingProblems({ ...config.vars, ...vars });
  problems.push(...containerProblems({ ...config, main: entry ?? config.main }, { ...config.vars, ...vars }));
  if (buildsImage) {
    try {
      await engineVersion();
    } catch (error) {
      if (!(error instanceof NoEngineError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new DeployError(`Cannot deploy:\n${problems.map((one) => `- ${one}`).join("\n")}`);
  // A dry run needs no account.
  return isDryRun ? {} : newSecrets(await deployedSecrets(DEPLOYMENT));
}

try {
  const { args, secrets: given } = takeSettings(process.argv.slice(2));
  const secrets = { ...(await check(args)), ...given };
  await Promise.all([buildPage(), buildCli(), buildBridge()]);
  // ^C ends wrangler, and then us: the secrets' file is removed.
  process.on("SIGINT", () => undefined);
  process.exitCode = (await deploy(DEPLOYMENT, args, secrets)).code;
} catch (error) {
  const isExpected = error instanceof DeployError || error instanceof BuildError;
  console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}
