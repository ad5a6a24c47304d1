// A place in the file system, reached from the root by one directory after the other, each opened in its parent without following
// links. So nobody who swaps a directory for a link meanwhile leads an operation elsewhere.

import { closeSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, normalize } from "node:path";
import { openDirectory } from "../base/directories.ts";
import { FileError, fileErrorOf } from "./file-error.ts";

/** Bytes of a path that the kernel takes. */
const MAX_PATH_BYTES = 4_096;

/** An open directory and a name in it: `path` is good for one call, and leads through no link but a last one. */
export type Place = { readonly path: string; readonly real: string };

/**
 * Does something at the place that a path leads to.
 * @param last `follow`: links are resolved, the last one too; `keep`: the last name is not resolved.
 * @throws {FileError}
 */
export function atPlace<T>(
  path: string,
  last: "follow" | "keep",
  within: readonly string[] | undefined,
  act: (place: Place) => T,
): T {
  const real = realOf(path, last);
  requireInside(real, within);
  return real === "/" ? act({ path: "/", real }) : inOpened(dirname(real), basename(real), real, act);
}

/** Does something in the directory that a path leads to, by a path of its own. @throws {FileError} */
export function inDirectory<T>(path: string, act: (place: Place) => T): T {
  const real = realOf(path, "follow");
  return inOpened(real, ".", real, act);
}

function inOpened<T>(folder: string, name: string, real: string, act: (place: Place) => T): T {
  const directory = openDirectory(folder);
  try {
    return act({ path: `/proc/self/fd/${directory}/${name}`, real });
  } finally {
    closeSync(directory);
  }
}

function requireInside(real: string, within: readonly string[] | undefined): void {
  if (within === undefined || within.some((root) => isInside(real, root))) return;
  throw new FileError("EOUTSIDE", `the file lies outside of ${within.join(" and ")}`);
}

/** Whether a place is a directory, by its own or its ancestor's name. Links in `root` count as what they lead to. */
function isInside(real: string, root: string): boolean {
  let base: string;
  try {
    base = realpathSync(root);
  } catch {
    base = root;
  }
  return real === base || real.startsWith(base === "/" ? "/" : `${base}/`);
}

/** The path without links. What does not exist has the name that it would have. */
function realOf(path: string, last: "follow" | "keep"): string {
  if (!path.startsWith("/") || path.includes("\0") || Buffer.byteLength(path) >= MAX_PATH_BYTES) {
    throw new FileError("EINVAL", "a path is absolute, has no NUL and fewer than 4096 bytes");
  }
  // Not normalised before: `link/..` is the parent of what the link leads to.
  const trimmed = path.replace(/\/+$/, "") || "/";
  const name = basename(trimmed);
  const isPlain = name !== "" && name !== "." && name !== "..";
  if (last === "keep" && isPlain) return normalize(`${realpathSync(dirname(trimmed))}/${name}`);
  try {
    return realpathSync(trimmed);
  } catch (error) {
    // A link that leads nowhere must not be written through.
    if (!isPlain || fileErrorOf(error).code !== "ENOENT" || isLink(trimmed)) throw error;
    return normalize(`${realOf(dirname(trimmed), "follow")}/${name}`);
  }
}

function isLink(path: string): boolean {
  try {
    readlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
