// The docker command, chosen as wrangler chooses it. Knows nothing of its uses.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const COMMAND = process.env.WRANGLER_DOCKER_BIN ?? "docker";
const LIMIT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** @returns Its stdout, without the last newline. @throws {Error} With its stderr, unless it ends with 0 within a minute. */
export async function docker(...args: string[]): Promise<string> {
  return (await run(args)).stdout.trimEnd();
}

/** All that a container's program has said, errors too. */
export async function containerLog(container: string): Promise<string> {
  const { stdout, stderr } = await run(["logs", container]);
  return stdout + stderr;
}

async function run(args: string[]): Promise<{ stdout: string; stderr: string }> {
  try {
    return await promisify(execFile)(COMMAND, args, { timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES });
  } catch (error) {
    throw new Error(`Cannot run docker ${args.join(" ")}: ${said(error)}`, { cause: error });
  }
}

/** No Docker engine can be used; the message says why, and what to do. */
export class NoEngineError extends Error {
  override readonly name = "NoEngineError";
}

/** The version of the engine. @throws {NoEngineError} */
export async function engineVersion(): Promise<string> {
  try {
    return await docker("version", "--format", "{{.Server.Version}}");
  } catch (error) {
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") {
      throw new NoEngineError(
        `Cannot run containers: there is no command "${COMMAND}". Install Docker, or name another in WRANGLER_DOCKER_BIN`,
      );
    }
    const host = process.env.DOCKER_HOST;
    throw new NoEngineError(
      `Cannot run containers: no Docker engine answers${host === undefined ? "" : ` at DOCKER_HOST=${host}`}. ` +
        `Start Docker, or name its socket in DOCKER_HOST.\n${said(cause)}`,
    );
  }
}

function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = "stderr" in error ? String(error.stderr).trim() : "";
  return stderr === "" ? error.message : stderr;
}
