// Switches the marks of command boundaries on (C2): how a shell is started so that it reads our script beside the user's own
// files. Nothing of the user's is written to; the scripts lie in a directory of ours.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { log } from "../base/log.ts";
import downloadScript from "./sbx-download.sh" with { type: "text" };
import bashScript from "./stdio.bash" with { type: "text" };
import fishScript from "./stdio.fish" with { type: "text" };
import zshScript from "./zshenv.zsh" with { type: "text" };

/** How a program is started. */
export type ShellStart = { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };

/** Options of a shell that has no script of its own: interactive, login, or both. */
const PLAIN_OPTION = /^(-[il]{1,2}|--login|--interactive)$/;

/** Writes the scripts where every user's shell can read them. @returns The directory. */
export function writeScripts(parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, "stdio-shell-"));
  try {
    fill(directory);
  } catch (error) {
    // Half of them would be read, and each further shell would leave another half.
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

/** The directory of the commands that a shell has beside its user's own. */
function toolsIn(directory: string): string {
  return join(directory, "bin");
}

let written: string | undefined;

/** The directory of the scripts: written at the first need, and again if it was deleted. Undefined where the disk takes none. */
export function scripts(): string | undefined {
  try {
    if (written === undefined || !existsSync(join(written, "zsh", ".zshenv"))) written = writeScripts();
    return written;
  } catch (error) {
    // A shell without marks is better than none: with a disk that is full, it is what people clean up with.
    log.warn("shells start without marks, since their scripts could not be written:", error);
    return undefined;
  }
}

/**
 * How to start `cmd` on a PTY so that it marks its commands; undefined where it is no such shell, or has a script of its own.
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
  // Behind the user's own: a command of theirs with the same name stays theirs.
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
        env: {
          ...env,
          ZDOTDIR: join(directory, "zsh"),
          ...(env.ZDOTDIR === undefined ? {} : { STDIO_ZDOTDIR: env.ZDOTDIR }),
        },
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
  // bash knows no such option; a caller with its own start-up file in POSIX mode keeps it.
  if (args.includes("--interactive") || env.POSIXLY_CORRECT !== undefined) return undefined;
  if (!isLogin) return { args: ["--rcfile", script, ...args], env };
  // A login shell has no --rcfile. In POSIX mode it reads $ENV and nothing else.
  if (env.ENV !== undefined) return undefined;
  return { args: ["--posix", ...args], env: { ...env, ENV: script, STDIO_SHELL_LOGIN: "1" } };
}
