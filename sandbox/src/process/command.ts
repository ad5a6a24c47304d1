// Finds a command on PATH, and checks the command and the directory before anything runs. Only reads the file system.

import { accessSync, constants, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";

/** Why a process could not be started. Nothing has run. */
export type StartFault = {
  fault:
    | "cmd_not_found"
    /** The file exists, but the kernel won't run it: not a regular file, no permission, a bad interpreter, … */
    | "cmd_not_executable"
    | "bad_cwd"
    /** Nothing listens on the TCP port that takes the process's place. */
    | "connection_refused"
    /** There is no such pane, or no such session, to take the process's place. */
    | "no_such_pane"
    /** The machine has no more processes, terminals, descriptors or memory. */
    | "start_failed";
  /** One line for a person, naming the command or directory. */
  detail: string;
};

/** The path that execvp and the shells search if the environment has no PATH. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * The absolute path of the program that `cmd` names: a path relative to `cwd` if it has a slash, else the first match
 * on `searchPath` (an empty entry is `cwd`). The kernel may still refuse what it finds there.
 * @param placeOf Where a path is for the bridge, if the program sees other paths.
 */
export function resolveCommand(
  cmd: string,
  cwd: string,
  searchPath: string = DEFAULT_PATH,
  placeOf: (path: string) => string = (path) => path,
): { path: string } | StartFault {
  const directory = inspect(placeOf(cwd));
  if (typeof directory === "string") return { fault: "bad_cwd", detail: `Cannot enter ${cwd}: ${directory}` };
  if (!directory.isDirectory()) return { fault: "bad_cwd", detail: `Cannot enter ${cwd}: not a directory` };
  if (!isAllowed(placeOf(cwd))) return { fault: "bad_cwd", detail: `Cannot enter ${cwd}: permission denied` };

  const places = cmd.includes("/") ? [""] : searchPath.split(":");
  let refusal: string | undefined;
  for (const place of cmd === "" ? [] : places) {
    const path = resolve(cwd, place, cmd);
    const file = inspect(placeOf(path));
    if (typeof file === "string") {
      if (file === "permission denied") refusal ??= file;
      continue;
    }
    if (!file.isFile()) refusal ??= file.isDirectory() ? "is a directory" : "not a regular file";
    else if (!isAllowed(placeOf(path))) refusal ??= "permission denied";
    else return { path };
  }
  if (refusal !== undefined) return { fault: "cmd_not_executable", detail: `Cannot execute ${cmd}: ${refusal}` };
  return { fault: "cmd_not_found", detail: `Cannot find ${cmd === "" ? "an empty command" : cmd}` };
}

/** The file's facts, or why it can't be inspected. */
function inspect(path: string): Stats | string {
  const missing = "no such file or directory";
  try {
    // Most directories of a search path don't have the file, and to make an error for each costs more than the call.
    return statSync(path, { throwIfNoEntry: false }) ?? missing;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTDIR") return missing;
    return code === "EACCES" ? "permission denied" : String(code ?? error);
  }
}

/** Execute permission; on a directory that is the permission to enter it. */
function isAllowed(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // EACCES, or another reason for which the kernel would refuse too.
    return false;
  }
}
