// Where `.sbx.json` is: in the current folder, or above it in the same repository or below the home folder, where it is one's own.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Environment } from "../base/environment.ts";
import { oneLine } from "../base/plain-text.ts";

const NAME = ".sbx.json";

export type FolderFile = {
  readonly path: string;
  /** For a person. */
  readonly words: string;
};

/** The nearest. That of the current folder may be anybody's, also a file that can't be read; one above it must be this user's. */
export function findFolderFile(folder: string, env: Environment): FolderFile {
  const own = { path: path.join(folder, NAME), words: `${NAME} of this folder` };
  if (lookAt(own.path) !== undefined) return own;
  for (const above of foldersAbove(folder, env)) {
    const file = path.join(above, NAME);
    if (isOurs(lookAt(file))) return { path: file, words: oneLine(`${NAME} of ${above}`) };
  }
  return own;
}

/** Up to the home folder or the repository's root, whichever comes first; none where there is neither. */
function foldersAbove(folder: string, env: Environment): readonly string[] {
  const home = realPath(env.HOME || os.homedir());
  const above: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    if (at !== folder) above.push(at);
    if (at === home || lookAt(path.join(at, ".git")) !== undefined) return above;
    if (path.dirname(at) === at) return [];
  }
}

function isOurs(stats: fs.Stats | undefined): boolean {
  return stats !== undefined && (process.getuid === undefined || stats.uid === process.getuid());
}

/** @returns undefined where there is none, or it may not be looked at. */
function lookAt(file: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(file);
  } catch {
    return undefined;
  }
}

/** As the current folder's is told: without links. */
function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder;
  }
}
