// Finds `.sbx.json`: in the current folder, or above it in the same repository or below the home folder if it is one's own.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Environment } from "../base/environment.ts";
import { oneLine } from "../base/plain-text.ts";

const NAME = ".sbx.json";

export type FolderFile = {
  readonly path: string;
  /** As messages name it. */
  readonly words: string;
};

/** The nearest file. The current folder's may be anybody's, even unreadable; one above it must belong to this user. */
export function findFolderFile(folder: string, env: Environment): FolderFile {
  const own = { path: path.join(folder, NAME), words: `${NAME} in this folder` };
  if (statsOf(own.path) !== undefined) return own;
  for (const above of foldersAbove(folder, env)) {
    const file = path.join(above, NAME);
    if (isOurs(statsOf(file))) return { path: file, words: oneLine(`${NAME} in ${above}`) };
  }
  return own;
}

/** Folders up to the home folder or the repository's root; none if there is neither. */
function foldersAbove(folder: string, env: Environment): readonly string[] {
  const home = realPath(env.HOME || os.homedir());
  const above: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    if (at !== folder) above.push(at);
    if (at === home || statsOf(path.join(at, ".git")) !== undefined) return above;
    if (path.dirname(at) === at) return [];
  }
}

function isOurs(stats: fs.Stats | undefined): boolean {
  return stats !== undefined && (process.getuid === undefined || stats.uid === process.getuid());
}

/** @returns undefined if the file does not exist or is not accessible. */
function statsOf(file: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(file);
  } catch {
    return undefined;
  }
}

/** Without symlinks, as the current folder. */
function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder;
  }
}
