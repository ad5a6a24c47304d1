// Checks that the arguments are valid UTF-8: runtimes replace other bytes, and the command would receive that.

import fs from "node:fs";
import { usage } from "../base/outcome.ts";

const REPLACED = "\ufffd";

/** @throws {CliError} If an argument is not UTF-8. */
export function checkArguments(argv: readonly string[]): void {
  const suspects = argv.filter((word) => word.includes(REPLACED));
  if (suspects.length === 0) return;
  const raw = rawArguments();
  // The replacement character itself may have been typed: compare the bytes if they can be read.
  const isAsTyped = raw !== undefined && suspects.every((word) => raw.some((bytes) => bytes.equals(Buffer.from(word))));
  if (!isAsTyped) throw usage("an argument is not valid UTF-8; pass it on standard input");
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
