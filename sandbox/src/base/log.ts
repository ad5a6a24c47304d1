// The bridge's log: lines on stderr at the level that LOG_LEVEL asks for, and the traces of sessions.

import { adjustableLog, type Log, type Trace, traceOf } from "sandbox-stdio/core";

/** Standard output holds one line of JSON alone, which says where the bridge listens. */
const PRINT: Log = { error: console.error, warn: console.error, info: console.error, debug: console.error };

export const { log, setLevel: setLogLevel } = adjustableLog(PRINT);

/** The trace of a session, if STDIO_TRACE asks for it. It is printed whatever the level is. */
export function sessionTrace(setting: string | undefined, sandbox: string, session: string): Trace | undefined {
  return traceOf(setting, { sandbox, session, part: "bridge" }, console.error, timeOfDay);
}

function timeOfDay(): string {
  return new Date().toISOString().slice(11, 23);
}
