// Levels of a server's log, shared by bridge and Worker; a shell prints.

/** From least to most output. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs at a level; the platform formats the details after the text. */
export type Log = { readonly [Level in LogLevel]: (text: string, ...details: unknown[]) => void };

const DEFAULT_LEVEL: LogLevel = "warn";

/** @returns undefined if the setting is not a level. Absent or empty: `warn`. */
export function readLogLevel(setting: string | undefined): LogLevel | undefined {
  if (!setting) return DEFAULT_LEVEL;
  return LOG_LEVELS.find((level) => level === setting);
}

/** A log that prints at `level` and above, and drops the rest. */
export function logAt(level: LogLevel, print: Log): Log {
  const isSaid = (one: LogLevel) => LOG_LEVELS.indexOf(one) <= LOG_LEVELS.indexOf(level);
  const nothing = () => undefined;
  return {
    error: print.error,
    warn: isSaid("warn") ? print.warn : nothing,
    info: isSaid("info") ? print.info : nothing,
    debug: isSaid("debug") ? print.debug : nothing,
  };
}

/** A log with a changeable level, initially `warn`. */
export function adjustableLog(print: Log): { readonly log: Log; setLevel(level: LogLevel): void } {
  let current = logAt(DEFAULT_LEVEL, print);
  const log: Log = {
    error: (...words) => current.error(...words),
    warn: (...words) => current.warn(...words),
    info: (...words) => current.info(...words),
    debug: (...words) => current.debug(...words),
  };
  const setLevel = (level: LogLevel): void => {
    current = logAt(level, print);
  };
  return { log, setLevel };
}
