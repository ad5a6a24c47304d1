// Small files of JSON. One that is read may have been put there by another person: neither a pipe nor a device is waited for, nor
// read without end.

import fs from "node:fs";
import path from "node:path";
import { isRecord } from "sandbox-stdio/core";
import { removeDraft, writeDraft } from "./draft.ts";
import { CliError } from "./outcome.ts";

const MAX_BYTES = 1_048_576;

/** @returns undefined where there is none. @throws {CliError} Where it is no object of JSON. */
export function readJsonFile(file: string): Record<string, unknown> | undefined {
  const text = readText(file);
  if (text === undefined) return undefined;
  const value = parsed(text);
  if (isRecord(value)) return value;
  throw cannotRead(file, "it is no JSON object");
}

function readText(file: string): string | undefined {
  let fd: number;
  try {
    // A pipe without a writer would be waited for.
    fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw cannotRead(file, message);
  }
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw cannotRead(file, "it is no regular file");
    if (stats.size > MAX_BYTES) throw cannotRead(file, "it is too long");
    return fs.readFileSync(fd, "utf8");
  } finally {
    fs.closeSync(fd);
  }
}

/** undefined where it is none. What a parser says of it would repeat it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const cannotRead = (file: string, why: string) => new CliError(`cannot read ${file}: ${why}`);

/** The whole of it or nothing: what was there stays until the new one is. @throws {CliError} */
export function writeJsonFile(file: string, value: object): void {
  let draft: string | undefined;
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    draft = writeDraft(file, `${JSON.stringify(value, null, 2)}\n`);
    fs.renameSync(draft, file);
  } catch (error) {
    if (draft !== undefined) removeDraft(draft);
    throw new CliError(`cannot write ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
