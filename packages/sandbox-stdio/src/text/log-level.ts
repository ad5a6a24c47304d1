// How much a server says in its log. The levels are the same in the bridge and in the Worker; a shell prints.

/** From little to much. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Says one thing at a level; the platform prints the details after the text in its own way. */
export type Log = { readonly [Level in LogLevel]: (text: string, ...details: unknown[]) => void };

const DEFAULT_LEVEL: LogLevel = "warn";

/** @returns undefined where the setting is no level. Absent or empty: `warn`. */
export function readLogLevel(setting: string | undefined): LogLevel | undefined {
  if (!setting) return DEFAULT_LEVEL;
  return LOG_LEVELS.find((level) => level === setting);
}

/** A log that prints the lines of `level` and above it, and does nothing for the rest. */
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

/** A log whose level can be changed: `warn` at first. */
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
