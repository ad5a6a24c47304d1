// Runs a tool of the packing to its end.
import { spawn } from "node:child_process";
import { childEnv } from "../env.ts";

/** A step of the packing failed; the message holds the tool's own output. */
export class PackError extends Error {
  override readonly name = "PackError";
}

/** @returns The text that it printed. @throws {PackError} Unless it ends with 0. */
export async function runTool(what: string, command: string, args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(command, args, { cwd, env: childEnv(), stdio: ["ignore", "pipe", "pipe"] });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const said = Buffer.concat(output).toString();
  if (code !== 0) throw new PackError(`Cannot ${what} (exit code ${code}):\n${said}${Buffer.concat(errors)}`);
  return said;
}
