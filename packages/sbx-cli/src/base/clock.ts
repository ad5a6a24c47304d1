// This process's clock and timers, in the shape that the client core takes.

export const processClock = {
  /** Not performance.now(): its first use loads seven modules in Node. */
  now: (): number => process.uptime() * 1_000,
  /** Calls back once after `ms`. The result cancels it. */
  setTimer: (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
