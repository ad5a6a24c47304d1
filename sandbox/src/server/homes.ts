// The directories in which processes start. As root, the bridge gives them to CHILD_USER, whose processes may put symbolic links in
// their place: no link is followed on the way to a directory that is given away.

import { closeSync, existsSync, fchownSync, mkdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { ChildUser } from "../base/child-user.ts";
import { below, openBelow, openDirectory } from "../base/directories.ts";
import type { BridgeSettings } from "../base/settings.ts";

/** A directory can't be given to CHILD_USER. The message is for the operator. */
export class HandOverError extends Error {}

type Settings = Pick<BridgeSettings, "sandboxRoot" | "workspace" | "childUser">;

const NOT_A_DIRECTORY: readonly unknown[] = ["ENOTDIR", "ELOOP"];

export class Homes {
  readonly #settings: Settings;
  /** SANDBOX_ROOT, held open: processes may replace what its path leads to. Absent if nothing is given away. */
  readonly #root: number | undefined;

  /**
   * To be made before any process runs: afterwards the path of a directory can't be trusted.
   * @throws {HandOverError} If the start directory, or a directory above it, is a link.
   */
  constructor(settings: Settings) {
    this.#settings = settings;
    const { sandboxRoot, workspace, childUser } = settings;
    if (childUser === undefined) return;
    if (sandboxRoot !== undefined) {
      // Processes must be able to pass through it to their own directories.
      mkdirSync(sandboxRoot, { recursive: true, mode: 0o711 });
      this.#root = open(sandboxRoot);
    } else if (existsSync(workspace) && !isOf(workspace, childUser)) {
      // Its content keeps its owner.
      give(open(workspace), childUser);
    }
  }

  /** @param label A readable name for the directory; `sandbox` is the qualified one. @throws {Error} If it can't be made. */
  of(sandbox: string, label: string): string {
    const { sandboxRoot, workspace, childUser } = this.#settings;
    if (sandboxRoot === undefined) {
      return existsSync(workspace) ? workspace : (childUser?.home ?? process.env.HOME ?? "/");
    }
    const name = label === sandbox ? sandbox : `${label}-${sandbox.slice(0, 12)}`;
    const directory = join(sandboxRoot, name);
    if (childUser === undefined || this.#root === undefined) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } else {
      mkdirSync(below(this.#root, name), { recursive: true, mode: 0o700 });
      give(openBelow(this.#root, name), childUser);
    }
    return directory;
  }
}

function open(path: string): number {
  try {
    return openDirectory(resolve(path));
  } catch (error) {
    throw new HandOverError(`CHILD_USER can't be given ${path}: ${reasonOf(error)}`);
  }
}

/** Closes the directory. */
function give(directory: number, { uid, gid }: ChildUser): void {
  try {
    fchownSync(directory, uid, gid);
  } finally {
    closeSync(directory);
  }
}

function isOf(directory: string, { uid, gid }: ChildUser): boolean {
  const stats = statSync(directory);
  return stats.isDirectory() && stats.uid === uid && stats.gid === gid;
}

function reasonOf(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException;
  if (NOT_A_DIRECTORY.includes(code))
    return `"${basename(path ?? "")}" is a symbolic link or not a directory; name the directory itself`;
  return String(code ?? error);
}
