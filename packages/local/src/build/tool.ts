// Runs a build tool to its end. Starts nothing that stays.
import { spawn } from "node:child_process";
import { childEnv } from "../base/env.ts";

/** For programs that contain Bun. The current folder may be a stranger's: its bunfig.toml could name code, its .env settings. */
export const NO_FOLDER = ["--no-compile-autoload-bunfig", "--no-compile-autoload-dotenv"] as const;

/** A build failed; the message says which, and holds the tool's own output. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

export type ToolOptions = {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
};

/**
 * @param what The step, as "build the page".
 * @returns The text that it printed. @throws {BuildError} Unless it ends with 0; an AbortError once `signal` is aborted.
 */
export async function runTool(
  what: string,
  command: string,
  args: readonly string[],
  { cwd, env = childEnv(), signal }: ToolOptions,
): Promise<string> {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], ...(signal && { signal }) });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const said = Buffer.concat(output).toString();
  if (code !== 0) throw new BuildError(`Cannot ${what} (exit code ${code}):\n${said}${Buffer.concat(errors)}`);
  return said;
}
