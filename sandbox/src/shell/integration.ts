// Turns on the marks of command boundaries (C2): starts a shell so that it reads the bridge's script beside the user's files. No file
// of the user's is written; the scripts are in a directory of the bridge.

import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { defined } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import { makeOwnFolder } from "../base/own-folder.ts";
import downloadScript from "./sbx-download.sh" with { type: "text" };
import bashScript from "./stdio.bash" with { type: "text" };
import fishScript from "./stdio.fish" with { type: "text" };
import zshScript from "./zshenv.zsh" with { type: "text" };

/** How a program is started. */
export type ShellStart = { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };

/** Options of a shell that does not run a script: interactive, login, or both. */
const PLAIN_OPTION = /^(-[il]{1,2}|--login|--interactive)$/;

/** Writes the scripts where every user's shell can read them. @returns The directory. */
export function writeScripts(parent = tmpdir()): string {
  const directory = makeOwnFolder(parent, "stdio-shell-");
  try {
    fill(directory);
  } catch (error) {
    // Shells would read half of the scripts, and each further shell would leave another half.
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return directory;
}

function fill(directory: string): void {
  const zsh = join(directory, "zsh");
  const tools = toolsIn(directory);
  for (const path of [zsh, tools]) mkdirSync(path);
  const scripts: readonly (readonly [string, string])[] = [
    [join(directory, "stdio.bash"), bashScript],
    [join(directory, "stdio.fish"), fishScript],
    [join(zsh, ".zshenv"), zshScript],
  ];
  for (const [path, text] of scripts) writeFileSync(path, text, { mode: 0o644 });
  const download = join(tools, "sbx-download");
  writeFileSync(download, downloadScript);
  for (const path of [directory, zsh, tools, download]) chmodSync(path, 0o755);
}

/** The directory of the commands that marked shells get. */
function toolsIn(directory: string): string {
  return join(directory, "bin");
}

let written: string | undefined;

/** The directory of the scripts: written at the first need, and again if it was deleted. Undefined if the disk is full. */
export function scripts(): string | undefined {
  try {
    if (written === undefined || !existsSync(join(written, "zsh", ".zshenv"))) written = writeScripts();
    return written;
  } catch (error) {
    // A shell without marks is better than none: people need it to clean up a full disk.
    log.warn("shells start without marks, since their scripts could not be written:", error);
    return undefined;
  }
}

/** For a bridge that stops, once its shells have ended. */
export function removeScripts(): void {
  if (written !== undefined) rmSync(written, { recursive: true, force: true });
  written = undefined;
}

/**
 * How to start `cmd` on a PTY so that it marks its commands; undefined if it is not a known shell, or runs a script.
 *
 * @param directory The directory into which {@link writeScripts} has put the scripts.
 */
export function withMarks(
  cmd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  directory: string,
): ShellStart | undefined {
  if (!args.every((arg) => PLAIN_OPTION.test(arg))) return undefined;
  const start = markedStart(cmd, args, env, directory);
  if (start === undefined) return undefined;
  // Last on PATH: a command of the user's with the same name takes precedence.
  const { PATH } = start.env;
  return PATH === undefined ? start : { ...start, env: { ...start.env, PATH: `${PATH}:${toolsIn(directory)}` } };
}

function markedStart(
  cmd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  directory: string,
): ShellStart | undefined {
  const isLogin = args.some((arg) => arg === "--login" || (/^-[il]+$/.test(arg) && arg.includes("l")));
  switch (basename(cmd)) {
    case "bash":
      return bashWithMarks(args, env, join(directory, "stdio.bash"), isLogin);
    case "zsh":
      if (args.some((arg) => arg === "--interactive")) return undefined;
      return {
        args,
        env: { ...env, ZDOTDIR: join(directory, "zsh"), ...defined({ STDIO_ZDOTDIR: env.ZDOTDIR }) },
      };
    case "fish":
      return { args: [...args, "--init-command", `source ${join(directory, "stdio.fish")}`], env };
    default:
      return undefined;
  }
}

function bashWithMarks(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  script: string,
  isLogin: boolean,
): ShellStart | undefined {
  // bash does not know --interactive; a caller with a start-up file in POSIX mode keeps it.
  if (args.includes("--interactive") || env.POSIXLY_CORRECT !== undefined) return undefined;
  if (!isLogin) return { args: ["--rcfile", script, ...args], env };
  // A login shell has no --rcfile. In POSIX mode it reads $ENV and nothing else.
  if (env.ENV !== undefined) return undefined;
  return { args: ["--posix", ...args], env: { ...env, ENV: script, STDIO_SHELL_LOGIN: "1" } };
}
