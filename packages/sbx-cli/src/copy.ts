// Files and folders in and out: tar here, tar there, and the lossless pipes between them.

import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { CopyCommand } from "./cli-command.ts";
import type { Environment } from "./logins.ts";
import { CliError, EXIT, exitWith, type Outcome } from "./outcome.ts";

/** Starts this program again, with tar as its command: so a copy survives cuts as every pipeline does. */
export async function copy(
  { endpoint, sandbox, token, tokenCommand, from, to }: CopyCommand,
  env: Environment,
): Promise<Outcome> {
  const words = [endpoint.httpBase, "--sandbox", sandbox, "--no-tty"];
  if (tokenCommand !== undefined) words.push("--token-command", tokenCommand);
  // Other users of this machine see arguments, and not the environment.
  const childEnv = { ...env, ...(token === undefined ? {} : { SBX_TOKEN: token, SBX_TOKEN_ORIGIN: endpoint.origin }) };
  const remote = (script: string, args: readonly string[], stdio: "in" | "out") =>
    spawn(process.execPath, [...ownWords(), ...words, "--", "sh", "-c", script, "sh", ...args], {
      env: childEnv,
      stdio: stdio === "in" ? ["pipe", "inherit", "inherit"] : ["ignore", "pipe", "inherit"],
    });
  const [near, far] = from.isRemote
    ? [
        spawn("tar", ["xf", "-", "-C", to.path], { stdio: ["pipe", "inherit", "inherit"] }),
        remote(PACK, [from.path], "out"),
      ]
    : [
        spawn("tar", ["cf", "-", "-C", path.dirname(path.resolve(from.path)), path.basename(path.resolve(from.path))], {
          stdio: ["ignore", "pipe", "inherit"],
        }),
        remote(UNPACK, [to.path], "in"),
      ];
  const [source, sink] = from.isRemote ? [far, near] : [near, far];
  if (source.stdout !== null && sink.stdin !== null) source.stdout.pipe(sink.stdin);
  sink.stdin?.on("error", () => undefined); // Its end tells why.
  const [nearCode, farCode] = await Promise.all([exitOf(near), exitOf(far)]);
  if (farCode !== EXIT.ok) return exitWith(farCode);
  return exitWith(nearCode === EXIT.ok ? EXIT.ok : EXIT.failed);
}

const PACK = 'cd -- "$(dirname -- "$1")" && exec tar cf - -- "$(basename -- "$1")"';
const UNPACK = 'mkdir -p -- "$1" && exec tar xf - -C "$1"';

/** How this program is started again: a compiled one is its own runtime. */
function ownWords(): string[] {
  const script = process.argv[1];
  return script === undefined || script.startsWith("/$bunfs/") ? [] : [script];
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new CliError(`cannot copy: ${error.message}`)));
    child.once("close", (code) => resolve(code ?? EXIT.failed));
  });
}
