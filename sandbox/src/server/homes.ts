// The directories in which processes start. As root the bridge gives them to CHILD_USER, whose processes may put links in their
// place: none is followed on the way to what is given away.

import { closeSync, constants, existsSync, fchownSync, mkdirSync, openSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ChildUser } from "../base/child-user.ts";
import type { BridgeSettings } from "../base/settings.ts";

/** A directory can't be given to CHILD_USER. The message is for whoever has set up the bridge. */
export class HandOverError extends Error {}

type Settings = Pick<BridgeSettings, "sandboxRoot" | "workspace" | "childUser">;

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const IS_NO_DIRECTORY: readonly unknown[] = ["ENOTDIR", "ELOOP"];

export class Homes {
  readonly #settings: Settings;
  /** SANDBOX_ROOT, held open: processes may have exchanged what its path leads to. Absent where nothing is given away. */
  readonly #root: number | undefined;

  /**
   * To be made before any process runs: a directory's way can't be trusted afterwards.
   * @throws {HandOverError} If what processes start in, or a directory above it, is a link.
   */
  constructor(settings: Settings) {
    this.#settings = settings;
    const { sandboxRoot, workspace, childUser } = settings;
    if (childUser === undefined) return;
    if (sandboxRoot !== undefined) {
      // Processes have to get through it to what is theirs.
      mkdirSync(sandboxRoot, { recursive: true, mode: 0o711 });
      this.#root = openDirectory(sandboxRoot);
    } else if (existsSync(workspace) && !isOf(workspace, childUser)) {
      // What lies in it stays its owner's.
      give(openDirectory(workspace), childUser);
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
      mkdirSync(within(this.#root, name), { recursive: true, mode: 0o700 });
      give(open(this.#root, name), childUser);
    }
    return directory;
  }
}

/** Opens a directory by its whole path. */
function openDirectory(path: string): number {
  let at = openSync("/", O_RDONLY | O_DIRECTORY);
  for (const name of resolve(path).split("/")) {
    if (name === "") continue;
    try {
      const next = open(at, name);
      closeSync(at);
      at = next;
    } catch (error) {
      closeSync(at);
      throw new HandOverError(`CHILD_USER can't be given ${path}: ${reasonOf(error, name)}`);
    }
  }
  return at;
}

function open(directory: number, name: string): number {
  return openSync(within(directory, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** There is no openat(2) here: this path begins at the open directory, wherever that is by now. */
function within(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
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

function reasonOf(error: unknown, name: string): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (IS_NO_DIRECTORY.includes(code)) return `"${name}" is a symbolic link, or no directory; name the directory itself`;
  return String(code ?? error);
}
