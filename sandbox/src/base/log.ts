// The bridge's log: lines on stderr at the level of LOG_LEVEL, and the traces of sessions.

import { adjustableLog, type Log, type Trace, traceOf } from "sandbox-stdio/core";

/** All on stderr: stdout has only the line of JSON that says where the bridge listens. */
const PRINT: Log = { error: console.error, warn: console.error, info: console.error, debug: console.error };

export const { log, setLevel: setLogLevel } = adjustableLog(PRINT);

/** The trace of a session, if STDIO_TRACE names it. It is printed at any level. */
export function sessionTrace(setting: string | undefined, sandbox: string, session: string): Trace | undefined {
  return traceOf(setting, { sandbox, session, part: "bridge" }, console.error, timeOfDay);
}

function timeOfDay(): string {
  return new Date().toISOString().slice(11, 23);
}
