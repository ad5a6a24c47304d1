// What `npm run deploy` has wrangler do with a Worker's secrets: tell which there are, and deploy with those that lack. No secret is in
// an argument or in what is printed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { readTextIfPresent, writePrivateFile } from "../../packages/local/src/base/files.ts";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { SECRETS } from "./checks.ts";

/** A deployment can't be made; the message says all that is in its way. */
export class DeployError extends Error {}

const WRANGLER = join(ROOT, "node_modules/wrangler/bin/wrangler.js");

export type Deployment = {
  /** Where wrangler.toml is. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether people see what wrangler says. */
  readonly isShown: boolean;
  say(line: string): void;
};

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

async function wrangler({ directory, env, isShown }: Deployment, args: readonly string[]): Promise<Ended> {
  const output = isShown ? "inherit" : "pipe";
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: directory,
    stdio: ["inherit", output, output],
    env: isShown ? env : { ...env, NO_COLOR: "1", FORCE_COLOR: "0", CI: "1" },
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.on("data", (chunk: Buffer) => {
      said[name] += chunk.toString();
    });
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve(status ?? 1));
  });
  return { code, ...said };
}

/** @returns The names of the secrets that the deployed Worker has; none where there is no such Worker yet. */
export async function deployedSecrets(deployment: Deployment): Promise<string[]> {
  const asked = { ...deployment, isShown: false };
  const { code, stdout, stderr } = await wrangler(asked, ["secret", "list", "--format", "json"]);
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

/**
 * Takes `--settings FILE` out of the arguments: its lines NAME=value, as `sbx-stdio serve --settings` reads them, become `--var`, and
 * what nobody may see secrets. @throws {DeployError} Without such a file.
 */
export function takeSettings(args: readonly string[]): { args: string[]; secrets: Record<string, string> } {
  const at = args.indexOf("--settings");
  if (at < 0) return { args: [...args], secrets: {} };
  const file = args[at + 1] ?? "";
  const text = readTextIfPresent(file);
  if (text === undefined) throw new DeployError(`Cannot deploy: --settings names a file, and "${file}" is none`);
  const lines = Object.entries(parseEnv(text)) as [string, string][];
  const isSecret = ([name]: [string, string]): boolean => name in SECRETS || /_TOKEN$|_KEY$/.test(name);
  const vars = lines.filter((line) => !isSecret(line)).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const secrets = Object.fromEntries(lines.filter(isSecret));
  return { args: [...args.slice(0, at), ...args.slice(at + 2), ...vars], secrets };
}

/** Has wrangler deploy, and with it put these secrets beside those that the Worker has. */
export async function deploy(
  deployment: Deployment,
  args: readonly string[],
  secrets: Readonly<Record<string, string>>,
): Promise<Ended> {
  const names = Object.keys(secrets);
  if (names.length === 0 || args.some((arg) => arg.startsWith("--secrets-file")))
    return wrangler(deployment, ["deploy", ...args]);
  for (const name of names) deployment.say(`Sets the secret ${name}${name in SECRETS ? `: ${SECRETS[name]}` : ""}`);
  const dir = mkdtempSync(join(tmpdir(), "sbx-deploy-"));
  try {
    const file = join(dir, "secrets.json");
    writePrivateFile(file, JSON.stringify(secrets));
    return await wrangler(deployment, ["deploy", ...args, "--secrets-file", file]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
