// Runs the command line as people do: the bundle that the build makes, in a process of its own.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { childEnv } from "../../../../packages/local/src/base/env.ts";
import { ROOT } from "../../../../packages/local/src/base/paths.ts";
import { withoutWaits } from "../../../../packages/sbx-cli/test/fixture/waits.ts";
import { type Person, system } from "../system/system.ts";

export const CLI = join(ROOT, "packages/sbx-cli/dist/sbx-stdio.js");
if (!existsSync(CLI)) throw new Error(`There is no ${CLI}: run "npm run build" first`);

/** A home directory of their own, so that no stored login of this machine's is found or made. */
const home = join(system.dir, "home");
mkdirSync(home, { recursive: true });

export interface CliResult {
  /** As a shell tells it: 128 and the signal's number, where a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type CliChild = ChildProcessByStdio<Writable, Readable, Readable>;

export function cliEnv(who: Person | undefined): NodeJS.ProcessEnv {
  const env = childEnv({ HOME: home, XDG_CONFIG_HOME: join(home, ".config") });
  for (const name of ["SBX_TOKEN", "DO_TOKEN", "OAUTH_API_URL", "OAUTH_CLIENT_ID", "TMUX"]) delete env[name];
  return who === undefined ? env : { ...env, SBX_TOKEN: who.token };
}

/** Starts it with all three streams as pipes: the subcommand, if any, the server's address, and `words`. */
export function startCli(
  who: Person | undefined,
  words: readonly string[],
  subcommand?: string,
  origin = system.origin,
): CliChild {
  const address = subcommand === "logout" ? [] : [origin];
  const args = [CLI, ...(subcommand?.split(" ") ?? []), ...address, ...words];
  const child = spawn(process.execPath, args, { env: cliEnv(who), stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // It may end without reading all.
  return child;
}

export function exitCode(child: CliChild): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
  });
}

/** Standard error without what is told of waits, and of a container that is started for the first who comes. */
export const withoutWords = (stderr: string): string =>
  withoutWaits(stderr).replace(/^sbx-stdio: the sandbox is starting\n/gm, "");

/** Runs it to its end, with `input` as standard input. */
export async function runCli(
  who: Person | undefined,
  words: readonly string[],
  input = "",
  subcommand?: string,
): Promise<CliResult> {
  const child = startCli(who, words, subcommand);
  const ended = exitCode(child);
  child.stdin.end(input);
  const [code, stdout, stderr] = await Promise.all([ended, textOf(child.stdout), textOf(child.stderr)]);
  return { code, stdout, stderr: withoutWords(stderr) };
}

export async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
