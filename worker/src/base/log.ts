// The Worker's log: lines at the level that LOG_LEVEL asks for, and the traces of sessions.

import { adjustableLog, type Log, readLogLevel, type Trace, traceOf } from "sandbox-stdio/core";

export interface LogEnv {
  /** `error`, `warn`, `info` (sessions start and end) or `debug`. Default: `warn`. */
  readonly LOG_LEVEL?: string;
  /** Traced sessions: `*`, or `SESSION` and `SANDBOX/SESSION`, comma separated. Default: none. */
  readonly STDIO_TRACE?: string;
}

const PRINT: Log = {
  error: (...words) => console.error(...words),
  warn: (...words) => console.warn(...words),
  info: (...words) => console.info(...words),
  debug: (...words) => console.debug(...words),
};

const adjustable = adjustableLog(PRINT);

/** At the level last set by {@link useLogLevel} in this isolate, whose objects all have the same variables. */
export const { log } = adjustable;

/** @returns Whether the setting is a level. */
export function useLogLevel({ LOG_LEVEL }: LogEnv): boolean {
  const level = readLogLevel(LOG_LEVEL);
  if (level !== undefined) adjustable.setLevel(level);
  return level !== undefined;
}

/** The trace of a session, if STDIO_TRACE asks for it. It is printed whatever the level is. */
export function sessionTrace({ STDIO_TRACE }: LogEnv, sandbox: string, session: string): Trace | undefined {
  return traceOf(STDIO_TRACE, { sandbox, session, part: "object" }, console.log, timeOfDay);
}

function timeOfDay(): string {
  return new Date().toISOString().slice(11, 23);
}
