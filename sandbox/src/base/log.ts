// The bridge's log: lines on stderr at the level of LOG_LEVEL, and the traces of sessions.

import { closeSync, fstatSync, openSync, readlinkSync, renameSync } from "node:fs";
import { adjustableLog, type Log, type Trace, traceOf } from "sandbox-stdio/core";
import { libc } from "./libc.ts";

/** Where stderr is a file: it is begun anew then, and the one before it is kept. */
const MOST_BYTES = 8 * 1024 * 1024;

/** All on stderr: stdout has only the line of JSON that says where the bridge listens. */
function print(...words: readonly unknown[]): void {
  console.error(...words);
  try {
    const stats = fstatSync(2);
    if (stats.isFile() && stats.size > MOST_BYTES) beginAnew(readlinkSync("/proc/self/fd/2"));
  } catch {
    // Logging goes on in the old file.
  }
}

function beginAnew(file: string): void {
  renameSync(file, `${file}.old`);
  const fresh = openSync(file, "a", 0o600);
  libc.dup2(fresh, 2);
  closeSync(fresh);
}

const PRINT: Log = { error: print, warn: print, info: print, debug: print };

export const { log, setLevel: setLogLevel } = adjustableLog(PRINT);

/** The trace of a session, if STDIO_TRACE names it. It is printed at any level. */
export function sessionTrace(setting: string | undefined, sandbox: string, session: string): Trace | undefined {
  return traceOf(setting, { sandbox, session, part: "bridge" }, print, timeOfDay);
}

function timeOfDay(): string {
  return new Date().toISOString().slice(11, 23);
}
