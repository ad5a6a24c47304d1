// Opens directories one inside the other without following links, so that swapping one for a link leads no operation elsewhere.

import { closeSync, constants, openSync } from "node:fs";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** @param path Absolute, without links. @throws {Error} Of the system: the last name of its `path` is at fault. */
export function openDirectory(path: string): number {
  let at = openSync("/", O_RDONLY | O_DIRECTORY);
  for (const name of path.split("/")) {
    if (name === "") continue;
    try {
      const next = openBelow(at, name);
      closeSync(at);
      at = next;
    } catch (error) {
      closeSync(at);
      throw error;
    }
  }
  return at;
}

export function openBelow(directory: number, name: string | Buffer): number {
  return openSync(below(directory, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** In place of openat(2): this path begins at the open directory, wherever that has been moved. */
export function below(directory: number, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), Buffer.from(name)]);
}
