// `npm run deploy`: checks what a deployment needs, builds the page, the command line and the bridge, and hands the rest to
// wrangler, with whatever arguments were given. Needs a Cloudflare account, and Docker for the image.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { buildBridge, buildCli, buildPage } from "../packages/local/src/build/builds.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";
import {
  containerProblems,
  newSecrets,
  readArguments,
  SECRETS,
  settingProblems,
} from "../packages/local/src/deploy-checks.ts";
import { engineVersion, NoEngineError } from "../packages/local/src/docker.ts";
import { writePrivateFile } from "../packages/local/src/files.ts";
import { ROOT } from "../packages/local/src/paths.ts";

/** A deployment can't be made; the message says all that is in its way. */
class DeployError extends Error {}

const WRANGLER = join(ROOT, "node_modules/wrangler/bin/wrangler.js");

/** Runs wrangler; its output is ours unless `stdout` is asked for. */
async function wrangler(args: readonly string[], stdout: "inherit" | "pipe" = "inherit") {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    stdio: ["inherit", stdout, stdout],
    env: stdout === "inherit" ? process.env : { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", CI: "1" },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve(status ?? 1));
  });
  return { code, ...output };
}

/** @returns The names of the secrets that the deployed Worker has; none where there is no such Worker yet. */
async function deployedSecrets(): Promise<string[]> {
  const { code, stdout, stderr } = await wrangler(["secret", "list", "--format", "json"], "pipe");
  const said = `${stdout}\n${stderr}`;
  // 10007: the API says it of a Worker that was never deployed.
  if (code !== 0 && (said.includes("10007") || /Worker .* not found/.test(said))) return [];
  if (code !== 0) {
    throw new DeployError(
      `Cannot read which secrets are set. Log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN. wrangler says:\n${said.trim()}`,
    );
  }
  const listed = JSON.parse(stdout.slice(stdout.indexOf("["))) as { name: string }[];
  return listed.map(({ name }) => name);
}

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
  return isDryRun ? {} : newSecrets(await deployedSecrets());
}

/** Has wrangler deploy, and with it put these secrets beside those that the Worker has. */
async function deploy(args: readonly string[], secrets: Readonly<Record<string, string>>): Promise<number> {
  const names = Object.keys(secrets);
  if (names.length === 0 || args.some((arg) => arg.startsWith("--secrets-file")))
    return (await wrangler(["deploy", ...args])).code;
  for (const name of names) console.log(`Makes the secret ${name}: ${SECRETS[name]}`);
  // ^C ends wrangler, and then us: the file is removed.
  process.on("SIGINT", () => undefined);
  const dir = mkdtempSync(join(tmpdir(), "sbx-deploy-"));
  try {
    const file = join(dir, "secrets.json");
    writePrivateFile(file, JSON.stringify(secrets));
    return (await wrangler(["deploy", ...args, "--secrets-file", file])).code;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
try {
  const secrets = await check(args);
  await Promise.all([buildPage(), buildCli(), buildBridge()]);
  process.exitCode = await deploy(args, secrets);
} catch (error) {
  const isExpected = error instanceof DeployError || error instanceof BuildError;
  console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}
