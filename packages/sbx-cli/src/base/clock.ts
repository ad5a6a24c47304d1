// This process's clock and timers, as those parts take them that are handed theirs.

export const processClock = {
  /** Not performance.now(): Node reads seven modules at the first use of that. */
  now: (): number => process.uptime() * 1_000,
  /** Calls back once after so many ms. The result cancels it. */
  setTimer: (ms: number, callback: () => void): (() => void) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
