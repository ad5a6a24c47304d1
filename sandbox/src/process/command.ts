// Decides before anything runs whether a command can be started: finds it on PATH, checks it and the directory.
// Looks at the file system only; starts nothing.

import { accessSync, constants, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";

/** Why a process could not be started. Nothing of it has run. */
export type StartFault = {
  fault:
    | "cmd_not_found"
    /** There is such a file, but the kernel won't run it: not a regular file, no permission, a bad interpreter, … */
    | "cmd_not_executable"
    | "bad_cwd"
    /** Nothing listens on the TCP port that takes the process's place. */
    | "connection_refused"
    /** The pane that takes the process's place is not there, or its session is not. */
    | "no_such_pane"
    /** The machine has no more processes, terminals, descriptors or memory. */
    | "start_failed";
  /** One line for a person, naming the command or directory. */
  detail: string;
};

/** The path that execvp and the shells search where the environment has no PATH. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * The absolute path of the program that `cmd` names: a path relative to `cwd` if it has a slash, else the first match
 * on `searchPath` (an empty entry is `cwd`). The kernel may still refuse what it finds there.
 */
export function resolveCommand(
  cmd: string,
  cwd: string,
  searchPath: string = DEFAULT_PATH,
): { path: string } | StartFault {
  const directory = inspect(cwd);
  if (typeof directory === "string") return { fault: "bad_cwd", detail: `Cannot enter ${cwd}: ${directory}` };
  if (!directory.isDirectory()) return { fault: "bad_cwd", detail: `Cannot enter ${cwd}: not a directory` };
  if (!isAllowed(cwd)) return { fault: "bad_cwd", detail: `Cannot enter ${cwd}: permission denied` };

  const places = cmd.includes("/") ? [""] : searchPath.split(":");
  let refusal: string | undefined;
  for (const place of cmd === "" ? [] : places) {
    const path = resolve(cwd, place, cmd);
    const file = inspect(path);
    if (typeof file === "string") {
      if (file === "permission denied") refusal ??= file;
      continue;
    }
    if (!file.isFile()) refusal ??= file.isDirectory() ? "is a directory" : "not a regular file";
    else if (!isAllowed(path)) refusal ??= "permission denied";
    else return { path };
  }
  if (refusal !== undefined) return { fault: "cmd_not_executable", detail: `Cannot execute ${cmd}: ${refusal}` };
  return { fault: "cmd_not_found", detail: `Cannot find ${cmd === "" ? "an empty command" : cmd}` };
}

/** The file's facts, or why there are none. */
function inspect(path: string): Stats | string {
  const none = "no such file or directory";
  try {
    // Most places of a search path do not have it, and making an error for each costs more than the looking.
    return statSync(path, { throwIfNoEntry: false }) ?? none;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTDIR") return none;
    return code === "EACCES" ? "permission denied" : String(code ?? error);
  }
}

/** Execute permission; on a directory that is the permission to enter it. */
function isAllowed(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // The kernel would refuse as well, for this or any other reason.
    return false;
  }
}
