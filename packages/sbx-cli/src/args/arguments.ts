// Whether the words that this program was given are those that were typed: a runtime that reads text puts a sign in the place of
// bytes that are none, and a command would get that.

import fs from "node:fs";
import { usage } from "../base/outcome.ts";

const REPLACED = "\ufffd";

/** @throws {CliError} Where a word is no UTF-8: it would be changed on its way. */
export function checkArguments(argv: readonly string[]): void {
  const suspects = argv.filter((word) => word.includes(REPLACED));
  if (suspects.length === 0) return;
  const raw = rawArguments();
  // The sign itself may have been typed: where the bytes can be read, they tell.
  const isAsTyped = raw !== undefined && suspects.every((word) => raw.some((bytes) => bytes.equals(Buffer.from(word))));
  if (!isAsTyped) throw usage("an argument is not UTF-8, and would be changed on its way: pass it by standard input");
}

function rawArguments(): Buffer[] | undefined {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync("/proc/self/cmdline");
  } catch {
    return undefined; // Not Linux.
  }
  const words: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const stop = end < 0 ? bytes.length : end;
    words.push(bytes.subarray(at, stop));
    at = stop + 1;
  }
  return words;
}
