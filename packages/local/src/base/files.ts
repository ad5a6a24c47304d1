// Private files of the local run: written whole or not at all, readable by their owner only.
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";

/** True for a file system error with this code, such as `ENOENT`. */
export function isErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** The shorter name of a socket, whose length is limited: from here, or from the root. */
export function shortest(path: string): string {
  const here = relative("", path);
  return here.length < path.length ? here : path;
}

/** The text of `path`, or undefined where there is no such file. */
export function readTextIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Makes `path` and its parents, for this user only (mode 700). An existing directory keeps its mode. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

function writeBeside(path: string, text: string): string {
  makePrivateDirectory(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  return temporary;
}

/** Replaces `path` in one step, mode 600. */
export function writePrivateFile(path: string, text: string): void {
  renameSync(writeBeside(path, text), path);
}

/**
 * The text of `path`, which `create` supplies where the file is missing. Of several processes that start at once one
 * creates it and all get the same text. The file has mode 600.
 */
export async function readOrCreatePrivateFile(path: string, create: () => string | Promise<string>): Promise<string> {
  const present = readTextIfPresent(path);
  if (present !== undefined) return present;
  const temporary = writeBeside(path, await create());
  try {
    // link() refuses to replace, so the loser of a race reads the winner's text.
    linkSync(temporary, path);
  } catch (error) {
    if (!isErrorCode(error, "EEXIST")) throw error;
  } finally {
    unlinkSync(temporary);
  }
  return readFileSync(path, "utf8");
}
