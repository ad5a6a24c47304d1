// Small JSON files. Another person may have placed them: never block on a pipe or device, nor read without limit.

import fs from "node:fs";
import path from "node:path";
import { isRecord } from "sandbox-stdio/core";
import { removeDraft, writeDraft } from "./draft.ts";
import { codeOf, messageOf } from "./errors.ts";
import { CliError } from "./outcome.ts";

const MAX_BYTES = 1_048_576;

/** @returns undefined if there is no file. @throws {CliError} If it is not a JSON object. */
export function readJsonFile(file: string): Record<string, unknown> | undefined {
  const text = readText(file);
  if (text === undefined) return undefined;
  const value = parsed(text);
  if (isRecord(value)) return value;
  throw cannotRead(file, "not a JSON object");
}

function readText(file: string): string | undefined {
  let fd: number;
  try {
    // Opening a pipe without a writer would block.
    fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw cannotRead(file, messageOf(error));
  }
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) throw cannotRead(file, "not a regular file");
    if (stats.size > MAX_BYTES) throw cannotRead(file, "too large");
    return fs.readFileSync(fd, "utf8");
  } finally {
    fs.closeSync(fd);
  }
}

/** undefined if invalid. The parser's message would quote the content. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const cannotRead = (file: string, why: string) => new CliError(`cannot read ${file}: ${why}`);

/** Writes atomically. @throws {CliError} */
export function writeJsonFile(file: string, value: object): void {
  let draft: string | undefined;
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    draft = writeDraft(file, `${JSON.stringify(value, null, 2)}\n`);
    fs.renameSync(draft, file);
  } catch (error) {
    if (draft !== undefined) removeDraft(draft);
    throw new CliError(`cannot write ${file}: ${messageOf(error)}`);
  }
}
